"""Draws radix sorts: the digits of a key, the tile, and the passes from buffer to buffer."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms import radix
from hsgen.algorithms.radix import portions
from hsgen.algorithms.radix.per_thread import PerThread
from hsgen.algorithms.radix.rankers import Ranked
from hsgen.algorithms.radix.tile import Tile
from hsgen.core.flags import REDO
from hsgen.tools.report.drawing import Drawing, Figure, count, plural
from hsgen.tools.report.tiles import lanes_by_items

_BAR = 704  # width of a key in pixels
_SHOWN = 8  # if there are more passes, the drawing shows only the first and the last passes
_ONE_LAUNCH = {"cooperative": "grid", "partition": "partition_rest"}  # strategies, and the kernel of all their passes


def figures(p: Tile, most: int) -> list[Figure]:
    """Return the drawings of a shape; the drawings do not depend on `most`, the greatest count."""
    keys = _chunks(p) if isinstance(p, PerThread) else _tile(p)  # type: ignore[arg-type]
    return [_digits(p), keys, _passes(p)]


def _digits(p: Tile) -> Figure:
    d = Drawing(f"{plural(len(p.digits), 'digit')} of at most {p.digit} bits of a key of {p.key.bits} bits")
    y = _bar(d, p, 20, f"{plural(len(p.digits), 'pass')} over a key of {p.key.bits} bits")
    alone = replace(p, bits=p.single_bits or p.bits)
    if p.alone and alone.digits != p.digits:
        _bar(d, alone, y + 24, f"one work-group alone, up to {count(p.alone)} keys: {len(alone.digits)} passes")
    caption = f"Digits: a pass sorts by one of them, the lowest first; a digit has at most {count(p.radix)} values."
    return Figure(d.markup(), caption)


def _bar(d: Drawing, p: Tile, y: float, words: str) -> float:
    """Draw a key, with the highest bit on the left, divided into digits; return the y coordinate of the lower end."""
    unit, left = _BAR / p.key.bits, 8
    d.text(left, y - 6, words, anchor="start")
    for number, (shift, width) in enumerate(p.digits):
        x, w = left + (p.key.bits - shift - width) * unit, width * unit
        bits = f"bits {shift} to {shift + width - 1}" if width > 1 else f"bit {shift}"
        d.box(x, y, w, 26, "light" if number % 2 else "empty", f"pass {number}: {bits}")
        d.text(x + w / 2, y + 17, f"{shift + width - 1} .. {shift}" if w > 60 else str(number), kind="small")
        d.text(x + w / 2, y + 42, f"pass {number}" if w > 60 else "", kind="small")
    return y + 48


def _tile(p: Ranked) -> Figure:
    d = Drawing(f"a tile of {p.work_group} lanes x {p.items} keys = {p.tile} keys")
    lanes_by_items(d, p.work_group, p.items, p.subgroup, "keys")
    groups = p.work_group // p.subgroup if p.subgroup > 1 else 0
    ranks = f"{plural(groups, 'subgroup')} of {p.subgroup} lanes rank" if groups else f"{p.work_group} lanes rank"
    alone = f" One work-group alone sorts up to {count(p.alone)} keys." if p.alone else ""
    caption = (
        f"Tile: {p.work_group} lanes x {p.items} = {count(p.tile)} keys, which one work-group ranks at once: {ranks} "
        f"them by {p.ranker}. Kernels that count or scatter have at most {count(p.groups)} work-groups, each with "
        f"several tiles then.{alone}"
    )
    return Figure(d.markup(), caption)


def _chunks(p: PerThread) -> Figure:
    """Draw the chunks of keys; each chunk is sorted by one lane, or by one subgroup."""
    who = f"a subgroup of {p.subgroup} lanes" if p.subgroup > 1 else "a lane"
    walkers = max(1, p.work_group // p.subgroup) * p.groups
    d = Drawing(f"chunks of keys, each walked by {who}")
    shown, left, top = min(walkers, 8), 8, 24
    w = _BAR / 8
    d.text(left, top - 8, "n keys", anchor="start")
    for i in range(shown):
        more = i == shown - 2 and walkers > shown
        d.box(left + i * w, top, w, 30, "empty" if more or i % 2 else "light")
        number = walkers - 1 if i == shown - 1 else i
        d.text(left + (i + 0.5) * w, top + 14, "..." if more else f"chunk {count(number)}", kind="small")
        if not more:
            d.line(left + i * w + 8, top + 22, left + (i + 1) * w - 12, top + 22, "arrow")
    alone = f" One work-group alone sorts up to {count(p.alone)} keys." if p.alone else ""
    least = f"{count(p.tile)} keys" + (f" ({p.work_group} lanes x {p.items})" if p.work_group > 1 else "")
    caption = (
        f"Chunks: {who} walks its own keys with its own counters. A work-group has at least {least}; there are at "
        f"most {count(p.groups)} work-groups of {plural(p.work_group, 'lane')}.{alone}"
    )
    return Figure(d.markup(), caption)


def _passes(p: Tile) -> Figure:
    """Draw the buffers that each out-of-place pass reads and writes, and its kernels."""
    steps = [s for s in radix.plan(p).steps if not s.kernel.endswith(("_wide", "_lines"))]
    total = len(p.digits)
    every = range(total)
    shown = list(every) if total <= _SHOWN else [0, 1, 2, -1, total - 2, total - 1]
    d = Drawing(f"{total} passes from buffer to buffer, {p.STRATEGY}")
    unit, top = 100.0, 30.0
    _buffer(d, 8, top, "source")
    for at, number in enumerate(shown):
        x = 8 + at * unit
        if number < 0:
            d.text(x + 136, top + 18, "...")
            continue
        launches = [s for s in steps if s.pass_number == number]
        direct = p.STRATEGY == "cooperative" or (total - number) % 2 == 1  # the last pass writes to the destination
        d.text(x + 86, top - 8, f"pass {number}", kind="small")
        d.line(x + 75, top + 14, x + 97, top + 14, "arrow")
        _buffer(d, x + unit, top, "destination" if direct else "scratch")
        every_name = [s.kernel for s in launches if not s.argument.flags & REDO]
        names = [_ONE_LAUNCH[p.STRATEGY]] if p.STRATEGY in _ONE_LAUNCH else list(dict.fromkeys(every_name))
        for row, name in enumerate(names):
            d.text(x + 86, top + 46 + 14 * row, name, kind="code")
    return Figure(d.markup(), _words(p))


def _buffer(d: Drawing, x: float, y: float, name: str) -> None:
    d.box(x, y, 72, 28, "light" if name == "scratch" else "mid")
    d.text(x + 36, y + 18, name, kind="small")


def _words(p: Tile) -> str:
    """Return the text about passes that complements the drawing."""
    if p.STRATEGY == "cooperative":
        return (
            f"One launch: up to {count(p.groups)} work-groups keep their keys in registers and wait for each other "
            "twice a pass, until all have counted and until all have stored. Every pass stores keys to the "
            "destination; values alternate between scratch and destination. A pass whose digit is the same in all keys "
            "moves none."
        )
    streamed = f" From {count(p.stream)} keys on scatter_lines takes the place of scatter." if p.stream else ""
    large = " Beyond the counts of 32-bit indices, kernels with _wide in their name do the same." if p.large else ""
    if p.looks_back:
        passes = (
            "Look-back: begin, histogram and starts run once; then each pass is one launch in which tiles wait for "
            "those before them."
        )
        if portions.count(p) > 1:
            passes += f" For more than {count(portions.whole(p))} keys a pass is {portions.count(p)} launches."
        if not p.forward_progress:
            passes += (
                " After each follow launches that count and scatter; they end at once unless its look-back failed."
            )
    elif p.folded:
        passes = (
            "Counted: each pass counts the digits of all chunks, then every work-group sums the counts and scatters."
        )
    else:
        passes = "Counted and scanned: each pass counts the digits of all tiles, scans the counts and scatters."
    odd = " In place, an odd number of passes ends with a copy." if len(p.digits) % 2 else ""
    arrows = "Arrows are keys that are sorted out of place; a pass whose digit is the same in all keys moves none"
    arrows += ", unless that makes the keys end in the destination." if p.looks_back else "."
    return f"{passes} {arrows}{odd}{streamed}{large}"
