"""The entries of a merge by paths, for templates: keys, or keys with their original indices."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The entries of a merge, as words of dialects; "" means that nothing is to be done.

    type: the type of an entry in registers.
    load: converts an entry when it is loaded.
    order: maps a loaded entry to an integer of its order.
    raw: converts a loaded entry when it is stored.
    out: maps an ordered entry back when it is stored.
    less: compares two ordered entries.
    greatest: the greatest entry.
    a, b, to: the start of an access to the first array, the second array and the result, such as ``source[``.
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
"""The fields of `Entries` for keys with their original indices, which memory holds as ordered entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values of a merge.

    bytes: the bytes of a value.
    a, b, to: the starts of accesses, as in `Entries`.
    """

    bytes: int
    a: str = "values_in["
    b: str = "second_values["
    to: str = "values_out["


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Input of the template of a kernel that merges.

    values: None for keys without values.
    lanes: the lanes of a work-group.
    items: the entries that a lane merges in local memory.
    vector: the number of keys in 16 bytes.
    chains, row: for lanes that merge from memory to memory; see `hsgen.algorithms.merge_path.params.Params`.
    """

    entries: Entries
    lanes: int
    items: int
    values: Values | None = None
    vector: int = 1
    chains: int = 1
    row: int = 0
