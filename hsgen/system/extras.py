"""The pip commands that install hsgen's optional dependencies."""

from __future__ import annotations

from hsgen.system import resources


def command(extra: str) -> str:
    """Return the pip command that installs the packages of an extra of hsgen.

    If hsgen is installed, pip knows these packages from the metadata of the installation.  If hsgen runs from a
    checkout without an installation, pip needs the path of the checkout.
    """
    from importlib import metadata  # slow to import, and rarely needed

    try:
        metadata.distribution("hsgen")
    except metadata.PackageNotFoundError:
        return f"pip install '{resources.root()}[{extra}]'"
    return f"pip install 'hsgen[{extra}]'"
