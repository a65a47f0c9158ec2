"""Counts and bit ranges on command lines."""

from __future__ import annotations

import re

from hsgen.cli.options import parse_count
from hsgen.core.errors import Usage

_PART = re.compile(r"(?P<from>[^.:+]+)(?:\.\.(?P<to>[^.:+]+)(?::(?P<steps>\d{1,2}))?)?(?P<around>\+-1)?")
HELP = (
    "Counts: 1000,2^16; 2^10..2^24: powers of two; 2^10..2^24:4: four per doubling; a suffix +-1 adds the neighbours."
)


def parse_sizes(text: str, what: str = "sizes") -> list[int]:
    """Return the counts that `text` lists, in this order, without repetitions.

    Its items, separated by commas, are numbers, powers (2^16), and ranges between powers of two: 2^10..2^24 stands for
    the powers, 2^10..2^24:4 for 4 counts per doubling, as evenly spaced as integers allow.  The suffix +-1 adds the
    neighbours of each count.  `what` is the option's name.

    Raises:
        Usage: an item is invalid.
    """
    out: list[int] = []
    for part in text.split(","):
        found = _PART.fullmatch(part.strip())
        low, high = (parse_count(found[name] or found["from"]) if found else None for name in ("from", "to"))
        if found is None or low is None or high is None:
            raise Usage(f"{what} {text}: '{part}' is no count; write for example 1000,2^16 or 2^10..2^24")
        counts = [low]
        if found["to"]:
            counts = _between(f"{what} {text}", part, low, high, int(found["steps"] or 1))
        out += [n + d for n in counts for d in ((-1, 0, 1) if found["around"] else (0,))]
    if 0 in out:
        raise Usage(f"{what} {text}: a count of 0 cannot be timed; give at least 1")
    return list(dict.fromkeys(out))


def _between(text: str, part: str, low: int, high: int, steps: int) -> list[int]:
    """The counts of a range, `steps` per doubling."""
    if any(v & (v - 1) or v == 0 for v in (low, high)) or low > high:
        raise Usage(f"{text}: '{part}' must go from a power of two up to another, like 2^10..2^24")
    if not 1 <= steps <= 16:
        raise Usage(f"{text}: '{part}' must take 1 to 16 steps a doubling, like 2^10..2^24:4")
    doublings = (high // low).bit_length() - 1
    return [round(low * 2 ** (i / steps)) if i % steps else low << i // steps for i in range(doublings * steps + 1)]


def parse_bits(text: str) -> tuple[int, int]:
    """Return the first bit of a range such as 0..16, and its end, exclusive.

    Raises:
        Usage: the text is no range.
    """
    found = re.fullmatch(r"(\d{1,2})\.\.(\d{1,2})", text.strip())
    if found is None:
        raise Usage(f"bits {text}: is no range; write the first bit and the end, exclusive, like 0..16")
    return int(found[1]), int(found[2])
