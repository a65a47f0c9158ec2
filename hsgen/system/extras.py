"""The pip commands that install hsgen's optional dependencies."""

from __future__ import annotations

from hsgen.system import resources


def command(extra: str) -> str:
    """Return the pip command that installs the packages of hsgen's extra `extra`, such as "cpu-device".

    If hsgen is not installed but runs from a checkout, the command has the path of the checkout.
    """
    from importlib import metadata  # slow to import, and rarely needed

    try:
        metadata.distribution("hsgen")
    except metadata.PackageNotFoundError:
        return f"pip install '{resources.root()}[{extra}]'"
    return f"pip install 'hsgen[{extra}]'"
