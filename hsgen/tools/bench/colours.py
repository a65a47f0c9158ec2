"""The colours of plots: a set for light paper, and a set that replaces it in dark mode.

An SVG file has the light colours, which every viewer of SVG supports.  Browsers also apply the file's rules for dark
mode, even if a page or a README embeds the file as an image.
"""

from __future__ import annotations

PAPER, INK, ROOF, SHADE, RULE = "#ffffff", "#1b1b1b", "#737373", "#ebebeb", "#d9d9d9"
LINES = ("#111111", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3c8d")
DARK = {
    PAPER: "#16181a",
    INK: "#e6e6e3",
    ROOF: "#9a9a95",
    SHADE: "#26292c",
    RULE: "#3c4044",
    "#111111": "#f4f4f0",
    "#d55e00": "#ff8a3d",
    "#0072b2": "#4aa3ea",
    "#009e73": "#3ecf9f",
    "#cc79a7": "#f0a6d0",
    "#8c6d00": "#d3b03a",
    "#56b4e9": "#a6e0ff",
    "#7f3c8d": "#c68ad6",
}
"""The colour of dark mode for each colour of light paper."""


def _style() -> str:
    """Return the style element.  The file's colours are in style attributes, which only `!important` overrides."""
    rules = [
        f'[style*="{attribute}: {light}"]{{{attribute}:{dark}!important}}'
        for light, dark in DARK.items()
        for attribute in ("fill", "stroke")
    ]
    text = f"text{{fill:{INK}}}"
    dark = "".join([f"text{{fill:{DARK[INK]}}}", *rules])
    return f"<style>:root{{color-scheme:light dark}}{text}@media (prefers-color-scheme:dark){{{dark}}}</style>"


def themed(svg: str) -> str:
    """Return the text of an SVG document with the rules for dark mode."""
    at = svg.index("</defs>")
    return f"{svg[:at]}{_style()}\n {svg[at:]}"
