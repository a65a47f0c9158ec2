"""The names and expressions in kernel text by which templates of merge paths load, compare and store what they merge.

An *entry* is what a merge compares and moves: a key, or a pair of a key and its original index.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The names, in kernel text, of the type of an entry and of functions on entries; "" if no function is called.

    A loaded entry has the bits of the key in memory.  An *ordered* entry is what `less` compares: the key after the key
    transform.

    type: the type of an entry in registers.
    load: the function that is applied to an entry when it is loaded from memory.
    order: the function from loaded entries to ordered entries.
    raw: the function that is applied to a loaded entry when it is stored.
    out: the function that is applied to an ordered entry when it is stored.
    less: the function that compares two ordered entries.
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
"""Fields of `Entries` for pairs of a key and its original index.  Such pairs are ordered entries in memory, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The expressions by which templates access the values of a merge.

    bytes: the size of a value in bytes.
    a, b, to: the texts that start accesses to values, as in `Entries`.
    """

    bytes: int
    a: str = "values_in["
    b: str = "second_values["
    to: str = "values_out["


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The data of a kernel that merges.

    entries: how the kernel accesses entries.
    lanes: the number of lanes of a work-group.
    items: the number of entries that a lane merges in local memory, or in one chain.
    values: how the kernel accesses values; None for keys without values.
    vector: the number of keys in 16 bytes.
    chains, row: as in `hsgen.algorithms.merge_path.params.Params`.
    """

    entries: Entries
    lanes: int
    items: int
    values: Values | None = None
    vector: int = 1
    chains: int = 1
    row: int = 0
