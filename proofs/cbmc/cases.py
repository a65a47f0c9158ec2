"""The proofs of the C runtime: functions of calls.c and regions.c, their bounds, and faults that CBMC must find."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "sorts",
    "scans",
    "segmented sorts",
    "merges",
    "digests",
    "selections",
    "reductions",
    "gathers",
    "packs",
    "groups",
)
"""The kinds of calls, in the order of hs_kind."""
DIVIDED = (0, 2, 3, 4, 5, 6, 7, 8)
"""Kinds with checks of their own."""
PRODUCTS = {5: "MOST=4095", 7: "MOST=4095"}
"""Kinds whose calls multiply or divide two of their numbers."""


@dataclass(frozen=True)
class Proof:
    """A function of a file, with definitions and the loops that are unrolled."""

    function: str
    text: str
    definitions: tuple[str, ...] = ()
    unwind: int = 12
    file: str = "calls.c"

    @property
    def name(self) -> str:
        return " ".join((self.function, *self.definitions))


@dataclass(frozen=True)
class Mutant:
    """A fault of a file of the runtime, and the proof that fails with it."""

    text: str
    file: str
    old: str
    new: str
    proof: str


def _kinds(function: str, text: str, chosen: tuple[int, ...], bounds: dict[int, str] = {}) -> list[Proof]:  # noqa: B006
    """Return a proof for each kind of call; `bounds` has definitions that bound the numbers of some kinds."""
    proofs = []
    for k in chosen:
        name, _, most = bounds.get(k, "").partition("=")
        bound = {"MOST": f", numbers up to {most}", "MOST_N": f", up to {most} rows"}.get(name, "")
        proofs.append(Proof(function, f"{text}: {KINDS[k]}{bound}", (f"KIND={k}", *((bounds[k],) if bound else ()))))
    return proofs


PROOFS = [
    Proof("takes", "options: a bit range within the key, and what the sort was generated for"),
    *_kinds("divided", "the number of a call", DIVIDED, PRODUCTS),
    *_kinds("touched", "bytes of each buffer", DIVIDED),
    Proof("fits", "checked buffers are large enough, aligned, and apart if written"),
    *_kinds(
        "survey",
        "a checked call accesses no byte beyond its buffers",
        tuple(range(10)),
        {**PRODUCTS, 8: "MOST_N=255"},
    ),
    Proof("scratch", "sizes of scratch do not overflow"),
    Proof("offset", "parts of scratch are aligned"),
    Proof("groups", "a step launches within its guard, at most its cap"),
    Proof(
        "grid", "a grid has room for up to 10^6 groups, in rows of at most 65535", ("LIMIT=65535u", "GROUPS=1000000")
    ),
    Proof("grid", "a grid has room for up to 2^32 groups, in rows of at most 2^31 - 1", ("LIMIT=2147483647u",)),
    Proof("grid", "a grid has room for up to 2^32 groups, in rows of at most 2^32 - 1", ("LIMIT=4294967295u",)),
    Proof("argument", "the digit of a pass lies within the bit range; fields do not collide"),
    Proof("numbers", "the two numbers after an argument are not negative"),
    Proof("pack", "numbers and layouts of columns"),
    Proof("pack_fits", "indices of words fit 31 bits, for any count"),
    Proof("scopes", "a scope is within the counts of its sort"),
    Proof("kernels", "a sorter has the kernel of each step that a call of its scope runs"),
    Proof("status", "status words and digests"),
    Proof("add", "texts of hs_explain end within their room of up to 12 bytes", unwind=14),
]
REGIONS = ("cpu_auto_u32", "lavapipe_auto_u32")
"""Sorts of generated/ whose parts of scratch begin within scratch."""
PROOFS += [
    Proof("regions", f"parts of scratch begin within it: hs_{sort}", (f"SORT=hs_{sort}",), 500, "regions.c")
    for sort in REGIONS
]
WRAPS = {
    ("hs_argument", "(uint32_t)rule->value"): "a literal is not negative, a pass neither",
    ("hs_argument", "(int32_t)(low | flags)"): "the highest bit is one of 32 bits for the kernel",
    ("hs_pack_number", "bytes - (unsigned int)1"): "a type of no bytes becomes a size that the next line refuses",
    ("hs_pack_layouts", "- (unsigned int)1"): "a type of no bytes has no field that is aligned to it",
}
"""Operations that wrap or change sign on purpose, by function and text, with the reason."""
MUTANTS = [
    Mutant(
        "hs_pack_fits multiplies without a bound",
        "hs_plan.c",
        "if (stride && n > INT32_MAX / stride)",
        "if (n * stride > INT32_MAX)",
        "pack_fits",
    ),
    Mutant(
        "a buffer may be half as large",
        "hs_call.c",
        "return span->bytes <= span->room &&",
        "return span->bytes / 2 <= span->room &&",
        "fits",
    ),
    Mutant("the end of a buffer may overflow", "hs_call.c", " && span->bytes <= UINT64_MAX - span->begin", "", "fits"),
    Mutant(
        "buffers overlap by a byte",
        "hs_call.c",
        "a->begin < b->begin + b->bytes &&",
        "a->begin + 1 < b->begin + b->bytes &&",
        "fits",
    ),
    Mutant(
        "counts of groups may overlap others",
        "hs_call.c",
        "1u << HS_OTHER_INPUT | 1u << HS_OTHER_VALUES; /* counts",
        "1u << HS_OTHER_VALUES; /* counts",
        "fits",
    ),
    Mutant(
        "a merge has more keys in its first array than in both",
        "hs_call.c",
        "if (call->number > call->n) return",
        "if (call->number > call->n + 1) return",
        "divided KIND=3",
    ),
    Mutant(
        "a second array has one element more",
        "hs_call.c",
        "return n - number;",
        "return n - number + 1;",
        "touched KIND=3",
    ),
    Mutant(
        "discarded keys end beyond scratch",
        "hs_call.c",
        "spans[HS_DESTINATION].begin += hs_discarded_at(plain);",
        "spans[HS_DESTINATION].begin += hs_discarded_at(plain) + 1024;",
        "survey KIND=0",
    ),
    Mutant(
        "a grid by the capacity alone, which may be beyond the guard",
        "hs_plan.c",
        "return groups < grid->cap ? groups : grid->cap;",
        "return groups;",
        "groups",
    ),
    Mutant(
        "a grid drops its last row",
        "hs_plan.c",
        "(groups + limit - 1) / limit : 0",
        "groups / limit : 0",
        "grid LIMIT=65535u GROUPS=1000000",
    ),
    Mutant(
        "the first digits of a pass are not the wider ones",
        "hs_plan.c",
        "(value < more ? value : more)",
        "value",
        "argument",
    ),
    Mutant(
        "an option of bits beyond the key",
        "hs_call.c",
        "options->begin_bit > end || end > sort->key_bits",
        "options->begin_bit > end",
        "takes",
    ),
    Mutant(
        "a scope ends beyond the counts of its sort",
        "hs_call.c",
        "scope->max_n > sort->max_n ?",
        "scope->max_n > sort->max_n + 1 ?",
        "scopes",
    ),
    Mutant(
        "a step for a count on the device is left out of a scope",
        "hs_call.c",
        "guard->max_n < scope->min_n && !counted &&",
        "guard->max_n < scope->min_n &&",
        "kernels",
    ),
    Mutant("a text fills its room without an end", "hs_match.c", "left = room - at - 1", "left = room - at", "add"),
    Mutant(
        "scratch lacks what follows per item",
        "hs.c",
        "rule->plus + rule->per_n * m +",
        "rule->plus +",
        "regions SORT=hs_cpu_auto_u32",
    ),
]
"""Faults, each refused by one proof."""
