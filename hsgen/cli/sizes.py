"""Parses counts of keys and bit ranges on command lines."""

from __future__ import annotations

import re

from hsgen.cli.options import parse_count
from hsgen.core.errors import Usage

_PART = re.compile(r"(?P<from>[^.:+]+)(?:\.\.(?P<to>[^.:+]+)(?::(?P<steps>\d{1,2}))?)?(?P<around>\+-1)?")
HELP = (
    "Counts: 1000,2^16; 2^10..2^24: powers of two; 2^10..2^24:4: four per doubling; a suffix +-1 adds the neighbours."
)


def parse_sizes(text: str, option: str = "sizes") -> list[int]:
    """Parse a list of counts; return them in the order of the text, each once.

    The items of the text are separated by commas.  An item is a number, a power (2^16), or a range between powers of
    two.  2^10..2^24 means the powers of two; 2^10..2^24:4 means 4 counts per doubling, evenly spaced and rounded.  The
    suffix +-1 adds the neighbours of each count.  `option` is the name of the option for messages.

    Raises:
        Usage: an item is invalid.
    """
    out: list[int] = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        low, high = (parse_count(match[name] or match["from"]) if match else None for name in ("from", "to"))
        if match is None or low is None or high is None:
            raise Usage(f"{option} {text}: '{part}' is no count; write for example 1000,2^16 or 2^10..2^24")
        counts = [low]
        if match["to"]:
            counts = _between(f"{option} {text}", part, low, high, int(match["steps"] or 1))
        out += [n + d for n in counts for d in ((-1, 0, 1) if match["around"] else (0,))]
    if 0 in out:
        raise Usage(f"{option} {text}: a count of 0 cannot be timed; give at least 1")
    return list(dict.fromkeys(out))


def _between(text: str, part: str, low: int, high: int, steps: int) -> list[int]:
    """Return the counts of a range between powers of two, with `steps` counts in each doubling."""
    if any(v & (v - 1) or v == 0 for v in (low, high)) or low > high:
        raise Usage(f"{text}: '{part}' must go from a power of two up to another, like 2^10..2^24")
    if not 1 <= steps <= 16:
        raise Usage(f"{text}: '{part}' must take 1 to 16 steps a doubling, like 2^10..2^24:4")
    doublings = (high // low).bit_length() - 1
    return [round(low * 2 ** (i / steps)) if i % steps else low << i // steps for i in range(doublings * steps + 1)]


def parse_bits(text: str) -> tuple[int, int]:
    """Parse a bit range such as 0..16; return its first bit and its exclusive end.

    Raises:
        Usage: the text is not a range.
    """
    match = re.fullmatch(r"(\d{1,2})\.\.(\d{1,2})", text.strip())
    if match is None:
        raise Usage(f"bits {text}: is no range; write the first bit and the end, exclusive, like 0..16")
    return int(match[1]), int(match[2])
