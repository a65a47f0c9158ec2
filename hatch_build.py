"""What the package index shows of a release: addresses, and README.md with links that work there.

The repository's address is stated once, in pyproject.toml; without one, links stay relative and there are no addresses.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)(\[[^]]*\])\((?![a-z]+:|#)([^)]+)\)")


def absolute(text: str, address: str, version: str) -> str:
    """Return Markdown whose relative links name the files of a version in the repository."""

    def link(match: re.Match[str]) -> str:
        image, title, path = match.groups()
        return f"{image}{title}({address}/{'raw' if image else 'blob'}/v{version}/{path})"

    return _LINK.sub(link, text)


class CustomMetadataHook(MetadataHookInterface):
    """Sets `readme` and `urls`; hatchling finds the class by its name."""

    def update(self, metadata: dict[str, Any]) -> None:
        """See `MetadataHookInterface`."""
        address = self.config["address"].rstrip("/")
        readme, version = (Path(self.root) / "README.md").read_text(encoding="utf-8"), metadata["version"]
        if address:
            readme = absolute(readme, address, version)
            at = f"{address}/blob/v{version}"
            metadata["urls"] = {
                "Source": address,
                "Documentation": f"{address}/tree/v{version}/docs",
                "Changelog": f"{at}/CHANGELOG.md",
                "Security": f"{at}/SECURITY.md",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
