"""The folders of templates and target files, in the checkout or in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def root() -> Path:
    """Return the folder that contains ``templates/`` and ``targets/``."""
    installed = _PACKAGE / "data"
    return installed if installed.is_dir() else _PACKAGE.parent


def templates() -> Path:
    """Return the folder of templates."""
    return root() / "templates"


def targets() -> Path:
    """Return the folder of the target files that are part of hsgen."""
    return root() / "targets"
