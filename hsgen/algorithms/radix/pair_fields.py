"""The choices of buckets with values, as target files have them; see `hsgen.algorithms.radix.finish`."""

from __future__ import annotations

from hsgen.core.fields import Field

PAIR_FIELDS = {
    "finish_from": Field(
        "int",
        "the count above which keys with values of 4 bytes are passed by two digits and then sorted in buckets",
        required=False,
        least=1,
    ),
    "finish_group": Field(
        "int", "buckets of pairs: the lanes that sort one, a power of two", required=False, least=1, greatest=8192
    ),
    "finish_items": Field(
        "int", "buckets of pairs: the pairs of such a lane, at most", required=False, least=1, greatest=64
    ),
    "finish_places": Field(
        "int", "buckets of pairs: the places of one, a power of two", required=False, least=1, greatest=65536
    ),
}
"""The fields, all of which are given or none."""


def shown(least: int, lanes: int, items: int, places: int) -> list[tuple[str, str]]:
    """Return the choices for people: above `least` pairs, buckets of `lanes` x `items`."""
    held = f"{lanes} lanes x {items} = {lanes * items} pairs at most"
    return [("buckets of pairs", f"from {least + 1} pairs on; a bucket {held}, {places} places")]
