"""Draws which algorithm serves which counts of keys, with and without values."""

from __future__ import annotations

from hsgen.core.errors import Usage
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.quantities import power_of_two
from hsgen.core.sort import Sort
from hsgen.targets.target import AUTO, Target
from hsgen.tools.report.drawing import Drawing, Figure, count, power

_BAR = 640  # pixels from one key to the greatest count
_RISE, _SMALL = 13, 6.5  # pixels: rise of a number that would overlap the number before; width of a small letter
_LEFT = 152
_FILLS = ("light", "mid", "hatch", "dots")


def served(target: Target, key: str, signature: Signature) -> list[tuple[str, int, int]] | None:
    """Return (label, low, high) for each part of the sort "auto"; the part serves counts above `low`, up to `high`.

    The result is None if the target has no such sort for this key width and signature.
    """
    try:
        sort = target.sort(AUTO, key, signature)
    except Usage:
        return None
    labels = _labels(sort, [label for label, _ in target.autos_for(signature)[target.keys_of(key)]])
    return [(label, part.min_n, part.max_n) for label, part in zip(labels, sort.parts, strict=True)]


def _labels(sort: Sort, labels: list[str]) -> list[str]:
    """Return the labels of a sort's parts; if some labels do not support the signature, return algorithms instead."""
    parts = [part.algorithm for part in sort.parts]
    return labels if [label.split("-")[0] for label in labels] == parts else parts


def figure(target: Target, key: str) -> Figure | None:
    """Return the drawing of the sort "auto" for a key width; None if the target has no such sort."""
    signatures = {"keys alone": PLAIN, "with values of 4 bytes": Signature(value="v4")}
    rows = {
        words: ranges
        for words, signature in signatures.items()
        if (ranges := served(target, key, signature)) is not None
    }
    if not rows:
        return None
    scale = max((parts[-1][2] - 1).bit_length() for parts in rows.values())
    text = "; ".join(f"{words}: {_described(parts)}" for words, parts in rows.items())
    d = Drawing(f"which algorithm serves which count, {text}")
    names = list(dict.fromkeys(label for parts in rows.values() for label, _, _ in parts))
    y = 26.0 + _RISE
    for words, parts in rows.items():
        _row(d, y, words, parts, scale, names)
        y += 54
    for k in range(0, scale + 1, 4):
        x = _LEFT + _BAR * k / scale
        d.line(x, y - 8, x, y - 2, "thin")
        d.text(x, y + 12, power_of_two(k), kind="small")
    d.text(_LEFT - 24, y + 12, "keys", anchor="end", kind="small")
    return Figure(d.markup(), f"The sort for any count: {text}.")


def _row(d: Drawing, y: float, words: str, parts: list[tuple[str, int, int]], scale: int, names: list[str]) -> None:
    d.text(_LEFT - 10, y + 17, words, anchor="end", kind="small")
    reach, raised = 0.0, False  # the right end of the last count drawn, and whether that count is raised
    for label, low, high in parts:
        x, end = (_LEFT + _BAR * _log2(n) / scale for n in (max(low, 1), high))
        fill = _FILLS[names.index(label) % len(_FILLS)]
        d.box(x, y, end - x, 26, fill, f"{label}: {low + 1} to {high} keys")
        if end - x >= 8 * len(label):  # the label fits; otherwise only the caption has it
            if fill in ("hatch", "dots"):
                d.box((x + end) / 2 - 4 * len(label), y + 6, 8 * len(label), 15, "empty")
            d.text((x + end) / 2, y + 17, label)
        if low:
            half = _SMALL * len(power(low)) / 2
            raised = not raised and x - half < reach
            reach = x + half
            up = _RISE if raised else 0
            d.line(x, y - 4 - up, x, y + 30, "thick")
            d.text(x, y - 8 - up, power(low), kind="small")


def _log2(n: int) -> float:
    """Return an approximation of log2(n), which is exact for powers of two and linear between them.

    In contrast to `math.log2`, the result is the same on every machine.
    """
    exponent = n.bit_length() - 1
    return exponent + (n - (1 << exponent)) / (1 << exponent)


def _described(parts: list[tuple[str, int, int]]) -> str:
    if len(parts) == 1:
        return f"{parts[0][0]} for every count up to {power(parts[0][2])}"
    return ", ".join(f"{label} up to {power(high)}" for label, _, high in parts)


def spelled(n: int) -> str:
    """Return a count in digits; a power of two, or one less, is also written as such: 2^20 = 1 048 576."""
    return f"{power(n)} = {count(n)}" if power(n) != count(n) else count(n)
