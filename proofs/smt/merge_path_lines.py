"""The lines of templates that the proofs of merge_path.py evaluate.

tests/unit/test_smt_proofs.py compares each text with its file, line by line; leading spaces do not count.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive lines of a file, unchanged."""

    file: str
    text: str


LINES = {
    "greatest count": Lines("hsgen/algorithms/merge_path/plan.py", "MAX_N = 1 << 30"),
    "least": Lines("templates/merge_path/path.j2", "{{ d }} > rest ? {{ d }} - rest : 0"),
    "greatest": Lines("templates/merge_path/path.j2", "int high = {{ d }} < parts ? {{ d }} : parts;"),
    "search": Lines(
        "templates/merge_path/path.j2",
        """
        while ({{ low }} < {{ high }}) {
            int middle = ({{ low }} + {{ high }}) / 2;
            bool less = {{ e.less }}({{ e.order }}({{ e.b }}{{ d }} - 1 - middle]), {{ e.order }}({{ e.a }}middle]));
            if (less) {{ high }} = middle;
            else {{ low }} = middle + 1;
        }
        """,
    ),
    "ends": Lines(
        "templates/merge_path/path.j2",
        """int d = {{ both }} == 0 ? begin : {{ end }}, low = {{ least("d") }}, high = d < parts ? d : parts;""",
    ),
    "less of ends": Lines(
        "templates/merge_path/path.j2",
        '{% set after = "hs_less(hs_twiddle_in(second[d - 1 - middle]), hs_twiddle_in(source[middle]))" %}',
    ),
    "subgroup": Lines(
        "templates/boundary.j2",
        """
        while (low < high) {
            int step = (high - low) / {{ lanes + 1 }}, more = (high - low) % {{ lanes + 1 }}, nth = hs_lane_id() + 1;
            int middle = low + step * nth + more * nth / {{ lanes + 1 }};
            bool after = {{ after }};
            int before = hs_popcount_mask(hs_ballot(!after)); // the number of lanes whose indices are too low
            if (before < {{ lanes }}) high = low + step * (before + 1) + more * (before + 1) / {{ lanes + 1 }};
            if (before > 0) low += step * before + more * before / {{ lanes + 1 }} + 1;
        }
        """,
    ),
    "clamp": Lines(
        "templates/merge_path/walk.j2",
        "last = last < first ? first : last - first < end - begin ? last : first + end - begin;",
    ),
    "starts of chains": Lines(
        "templates/merge_path/chains.j2",
        "a0 = first{% for c in range(1, m.chains) %}, a{{ c }} = begin + {{ c }} * length - (end - last){% endfor %}",
    ),
    "chains": Lines(
        "templates/merge_path/chains.j2",
        """
        if (a{{ c }} < a{{ c - 1 }}) a{{ c }} = a{{ c - 1 }};
        {
            int d = begin + {{ c }} * length, high = last < d - (begin - first) ? last : d - (begin - first);
            if (high > a{{ c - 1 }} + length) high = a{{ c - 1 }} + length;
        """,
    ),
    "tile": Lines(
        "templates/merge_path/tile.j2",
        """
        int a = d > {{ size }} - mine ? d - ({{ size }} - mine) : 0, high = d < mine ? d : mine;
        while (a < high) {
            int middle = (a + high) / 2;
            if ({{ e.less }}(tile[{{ size }} - d + middle], tile[middle])) high = middle;
            else a = middle + 1;
        }
        """,
    ),
    "vectors": Lines(
        "templates/merge_path/vectors.j2",
        """
        int a = d > second_count ? d - second_count : 0, high = d < mine ? d : mine;
        while (a < high) {
            int middle = (a + high) / 2;
            if (hs_less(tile[second_at + d - 1 - middle], tile[first_at + middle])) high = middle;
            else a = middle + 1;
        }
        """,
    ),
    "ranges": Lines(
        "templates/merge_path/ranges.j2",
        """
        int low = d > left_b ? d - left_b : 0, high = d < left_a ? d : left_a;
        while (low < high) {
            int middle = (low + high) / 2;
            if ({{ less() }}) high = middle;
            else low = middle + 1;
        }
        """,
    ),
    "less of ranges": Lines(
        "templates/merge_path/ranges.j2",
        'hs_less(ring[{{ ring }} + {{ slot("slot_b + (d - 1 - middle)") }}], ring[{{ slot("slot_a + middle") }}])',
    ),
    "slot": Lines(
        "templates/merge_path/ranges.j2", "({{ sum }} < {{ p.ring }} ? {{ sum }} : {{ sum }} - {{ p.ring }})"
    ),
}
"""Each text by the name that merge_path.py uses."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: in the text `name`, `old` becomes `new`."""

    what: str
    name: str
    old: str
    new: str


MUTANTS = (
    Mutant("the loop also runs for an empty interval", "search", "{{ low }} < {{ high }}", "{{ low }} <= {{ high }}"),
    Mutant("the upper bound drops a candidate", "search", "{{ high }} = middle", "{{ high }} = middle - 1"),
    Mutant("the lower bound keeps a refuted index", "search", "{{ low }} = middle + 1", "{{ low }} = middle"),
    Mutant("the lower bound skips an index", "search", "{{ low }} = middle + 1", "{{ low }} = middle + 2"),
    Mutant("the midpoint rounds up", "search", "+ {{ high }})", "+ {{ high }} + 1)"),
    Mutant("the midpoint overflows above 2^30 keys", "greatest count", "1 << 30", "(1 << 30) + 1"),
    Mutant("the second index is one too high", "search", "{{ d }} - 1 - middle", "{{ d }} - middle"),
    Mutant("<= in place of <: equal keys change places", "search", "{{ e.less }}", "at_most"),
    Mutant("the least cut is one too low", "least", "{{ d }} - rest", "{{ d }} - rest - 1"),
    Mutant("the least cut is one too high", "least", "{{ d }} - rest", "{{ d }} - rest + 1"),
    Mutant("the greatest cut is one too high", "greatest", "? {{ d }} : parts", "? {{ d }} + 1 : parts"),
    Mutant("the greatest cut is one too low", "greatest", ": parts", ": parts - 1"),
    Mutant("subgroup: the greatest cut is one too high", "ends", "d < parts ? d : parts", "d < parts ? d + 1 : parts"),
    Mutant("subgroup: <= in place of <", "less of ends", "hs_less", "at_most"),
    Mutant("subgroup: the last lane tests the bound", "subgroup", "* nth / {{ lanes + 1 }}", "* nth / {{ lanes }} + 1"),
    Mutant("subgroup: a refuted index stays", "subgroup", "before / {{ lanes + 1 }} + 1", "before / {{ lanes + 1 }}"),
    Mutant("subgroup: the upper bound is a lane lower", "subgroup", "step * (before + 1)", "step * before"),
    Mutant("clamp: the last cut stays below the first", "clamp", "last < first ? first :", "last < 0 ? first :"),
    Mutant("clamp: a part exceeds its outputs", "clamp", ": first + end - begin", ": last"),
    Mutant("chains: a chain starts too early", "starts of chains", "(end - last)", "(end - first)"),
    Mutant("chains: the bound drops candidates", "chains", "high = a{{ c - 1 }} + length", "high = a{{ c - 1 }}"),
    Mutant("chains: two chains overlap", "chains", "if (high > a{{ c - 1 }} + length)", "if (high > end)"),
    Mutant("chains: a chain starts before its predecessor", "chains", ") a{{ c }} = a{{ c - 1 }};", ") a{{ c }} = 0;"),
    Mutant("tile: the second index is one too high", "tile", "- d + middle", "- d + middle + 1"),
    Mutant("tile: the upper bound drops a candidate", "tile", "high = middle", "high = middle - 1"),
    Mutant("vectors: the second index is one too high", "vectors", "+ d - 1 - middle", "+ d - middle"),
    Mutant("vectors: <= in place of <", "vectors", "hs_less", "at_most"),
    Mutant("ranges: the least cut is one too high", "ranges", "d - left_b : 0", "d - left_b + 1 : 0"),
    Mutant("ranges: the second index is one too high", "less of ranges", "d - 1 - middle", "d - middle"),
    Mutant("ranges: the ring wraps a slot late", "slot", "< {{ p.ring }} ?", "<= {{ p.ring }} ?"),
)
"""Faults that the proofs must refute with a counterexample."""


def mutated(mutant: Mutant) -> dict[str, str]:
    """Return the texts with one fault."""
    text = LINES[mutant.name].text
    if mutant.old not in text:
        raise ValueError(f"{mutant.name} has no {mutant.old!r}")
    return {**texts(), mutant.name: text.replace(mutant.old, mutant.new)}


def texts() -> dict[str, str]:
    """Return the texts by name."""
    return {name: lines.text for name, lines in LINES.items()}
