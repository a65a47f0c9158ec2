"""What a merge by paths merges, for templates: keys, or keys with their original indices."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The entries of a merge, in the words of dialects.

    type: in registers.  load, order, raw, out: load an entry, transform it to its order, store it as loaded, and store
    it as transformed; "" where there is nothing to do.  less: compares two.  greatest: the greatest one.
    a, b, to: the start of an access to the first array, the second one and the result, such as ``source[``.
    """

    type: str = "hs_key"
    load: str = "hs_raw_in"
    order: str = "hs_twiddle_in"
    raw: str = "hs_raw_out"
    out: str = "hs_twiddle_out"
    less: str = "hs_less"
    greatest: str = "HS_GREATEST"
    a: str = "source["
    b: str = "second["
    to: str = "destination["


PAIRS = {
    "type": "hs_pair",
    "load": "",
    "order": "",
    "raw": "",
    "out": "",
    "less": "hs_pair_less",
    "greatest": "HS_PAIR_GREATEST",
}
"""The words of `Entries` for keys with their original indices, which are in their order in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values of a merge: the starts of accesses, as of `Entries`, and the bytes of a value."""

    bytes: int
    a: str = "values_in["
    b: str = "second_values["
    to: str = "values_out["


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A kernel that merges, for its template.

    values: None for keys alone.  lanes: of a work-group.  items: entries that a lane merges in local memory.
    vector: keys of 16 bytes.
    chains, row: of lanes that merge from memory to memory; see `hsgen.algorithms.merge_path.params.Params`.
    """

    entries: Entries
    lanes: int
    items: int
    values: Values | None = None
    vector: int = 1
    chains: int = 1
    row: int = 0
