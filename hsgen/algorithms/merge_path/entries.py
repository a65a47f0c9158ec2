"""The entries of a merge by merge paths, as templates need them.

An entry is a key, or a pair of a key and its original index.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The type and the functions of entries, as names in the dialects.  "" means that no function is called.

    An *ordered* entry is one that `less` can compare.

    type: the type of an entry in registers.
    load: converts an entry from memory when it is loaded.
    order: maps a loaded entry to an ordered entry.
    raw: converts a loaded entry when it is stored.
    out: converts an ordered entry when it is stored.
    less: compares two ordered entries.
    greatest: the greatest ordered entry.
    a: the text that starts an access to the first array, such as ``source[``.
    b: the same for the second array.
    to: the same for the result.
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
"""The fields of `Entries` for pairs of a key and its original index.  Memory holds such pairs as ordered entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values of a merge.

    bytes: the bytes of a value.
    a, b, to: the texts that start accesses to values, as in `Entries`.
    """

    bytes: int
    a: str = "values_in["
    b: str = "second_values["
    to: str = "values_out["


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Input of the template of a kernel that merges.

    values: the values; None for keys without values.
    lanes: the lanes of a work-group.
    items: the entries that a lane merges in local memory, or in one chain.
    vector: the number of keys in 16 bytes.
    chains, row: fields for lanes that merge from memory to memory.  `hsgen.algorithms.merge_path.params.Params`
    explains them.
    """

    entries: Entries
    lanes: int
    items: int
    values: Values | None = None
    vector: int = 1
    chains: int = 1
    row: int = 0
