"""Proves the searches of merge paths for every count, by the SMT solver z3.

    python proofs/smt/merge_path.py              prints a table of lemmas, and of mutants that the solver refutes
    python proofs/smt/merge_path.py --require    fails if z3 is not installed

Exit codes: 0: all is proved and every mutant is refuted; 1: not so; 3: z3 is not installed.

A merge has a first array a of `parts` keys and a second array b of `rest` keys. The cut of output d is the number x of
keys of a among the first d outputs. A search looks for the cut between its least and its greatest value. The lemmas
evaluate the lines of merge_path_lines.py, and hold for all keys and lengths within the bounds of the table. Keys are
numbers, since every finite set of ordered keys has the order of numbers. "sorted" marks the lemmas that assume sorted
arrays; all other lemmas hold for any keys.

The lemma "bits" is about bit-vectors of 32 bits, as a kernel computes. All other lemmas are about integers, and prove
of each operation that the result has 32 bits; such operations on bit-vectors and on integers have equal results.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from merge_path_lines import LINES, MUTANTS, mutated, texts

try:
    import z3
    from c_text import Integers, Run, Vectors
except ModuleNotFoundError as error:
    if error.name != "z3":
        raise
    print("z3 is not installed (pip install z3-solver)", file=sys.stderr)
    sys.exit(1 if "--require" in sys.argv else 3)

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
"""The widths of subgroups that target files may state."""
CHAINS = 8
"""The greatest number of chains of a lane."""
LOCAL = 1 << 20
"""A bound of the slots of local memory."""
SECONDS = 120
"""The time limit of a question to the solver."""
Texts = dict[str, str]
WORDS = {"{{ e.less }}": "less", "{{ e.order }}": "", "{{ e.a }}": "a[", "{{ e.b }}": "b[", "hs_twiddle_in": ""}
WORDS |= {"hs_less": "less", "second[": "b[", "source[": "a["}


@dataclass(frozen=True)
class Question:
    """Whether `goal` follows from `given`."""

    what: str
    given: list[Any]
    goal: Any


@dataclass(frozen=True)
class Lemma:
    """Questions that a lemma consists of, for texts, and the bound for which it holds."""

    name: str
    bound: str
    questions: Callable[[Texts], Iterator[Question]]


def plain(text: str, **words: str) -> str:
    """Return a text with Jinja's expressions replaced: by `words`, or by the expressions themselves in parentheses."""
    for word, other in {**{f"{{{{ {w} }}}}": x for w, x in words.items()}, **WORDS}.items():
        text = text.replace(word, other)
    return re.sub(r"\{\{ (.*?) \}\}", r"(\1)", text)


def loop(text: str) -> tuple[str, str, str]:
    """Return what stands before a loop, its condition and its body."""
    before, condition, body = re.fullmatch(r"(.*?)while \((.*?)\) \{\n(.*)\}\s*", text, re.S).groups()
    return before, condition, body


def greatest_count(t: Texts) -> int:
    """Return the greatest count of a merge."""
    return eval(t["greatest count"].partition("=")[2])


def keys(name: str) -> Callable[[Any], Any]:
    """Return an array of unknown keys."""
    return z3.Function(name, z3.IntSort(), z3.IntSort())


FUNCTIONS = {"less": lambda x, y: x < y, "at_most": lambda x, y: x <= y}
A, B = keys("a"), keys("b")
PARTS, REST, D, LOW, HIGH, CUT = (z3.Int(x) for x in ("parts", "rest", "d", "low", "high", "cut"))


def lengths(most: int) -> list[Any]:
    """Return the bounds of both arrays and of an output."""
    return [PARTS >= 0, REST >= 0, most >= PARTS, most - PARTS >= REST, D >= 0, PARTS + REST >= D]


def least(d: Any, rest: Any) -> Any:
    """Return the least cut, by its definition: all keys of the second array precede the output."""
    return z3.If(d - rest > 0, d - rest, 0)


def greatest(d: Any, parts: Any) -> Any:
    """Return the greatest cut, by its definition: all keys of the first array precede the output."""
    return z3.If(d < parts, d, parts)


def after(x: Any, d: Any = D) -> Any:
    """Return whether the cut is at most x: entry x of the first array follows entry d - 1 - x of the second."""
    return B(d - 1 - x) < A(x)


def ascending(f: Callable[[Any], Any], count: Any, *indices: Any) -> list[Any]:
    """Return what a sorted array says of some indices."""
    pairs = [(i, j) for i in indices for j in indices if i is not j]
    return [z3.Implies(z3.And(i >= 0, i <= j, j < count), f(i) <= f(j)) for i, j in pairs]


def stable(x: Any, d: Any) -> Any:
    """Return whether x is the stable cut of d: of equal keys, those of the first array come first."""
    one = z3.Implies(z3.And(x > 0, d - x < REST), A(x - 1) <= B(d - x))
    two = z3.Implies(z3.And(x < PARTS, d - x > 0), B(d - 1 - x) < A(x))
    return z3.And(x >= 0, x <= PARTS, d - x >= 0, d - x <= REST, one, two)


def bounds(t: Texts) -> Iterator[Question]:
    """The interval of a search before its first step."""
    run = Run(Integers(), {"d": D, "parts": PARTS, "rest": REST})
    low = run.value(plain(t["least"]))
    run.execute(plain(t["greatest"]))
    goal = z3.And(low == least(D, REST), run.values["high"] == greatest(D, PARTS), low <= run.values["high"])
    yield Question("path", lengths(greatest_count(t)), z3.And(run.legal(), goal))
    both = plain(t["ends"].replace('{{ least("d") }}', t["least"].replace("{{ d }}", "d")), both="0", end="end")
    run = Run(Integers(), {"begin": D, "end": D, "parts": PARTS, "rest": REST})
    run.execute(both)
    low, high = run.values["low"], run.values["high"]
    goal = z3.And(low == least(D, REST), high == greatest(D, PARTS), run.values["d"] == D)
    yield Question("subgroup", lengths(greatest_count(t)), z3.And(run.legal(), goal))


@dataclass(frozen=True)
class Search:
    """A binary search: the text of its loop, the names of its bounds, and where both arrays are.

    given: what the values of `run` satisfy.
    indices: what both accesses must be for index `middle`, as (array, index of the first key, index of the second key).
    """

    text: str
    low: str
    values: dict[str, Any]
    arrays: dict[str, Any]
    given: list[Any]
    counts: dict[str, Any]
    after: Callable[[Any], Any]

    def step(self) -> tuple[Run, Any]:
        """Return a run of one step, and the condition of the loop."""
        run = Run(Integers(), {self.low: LOW, "high": HIGH, **self.values}, self.arrays, FUNCTIONS)
        _, condition, body = loop(self.text)
        holds = run.value(condition)
        run.execute(body)
        return run, holds

    def between(self) -> list[Any]:
        """Return the invariant of the interval."""
        return [*self.given, least(D, REST) <= LOW, LOW <= HIGH, greatest(D, PARTS) >= HIGH]

    def shrinks(self) -> Question:
        """A step is legal, reads within the arrays, and at most halves the interval."""
        run, holds = self.step()
        low, high = run.values[self.low], run.values["high"]
        goal = z3.And(run.legal(), run.within(0, self.counts), low >= LOW, low <= high, high <= HIGH)
        return Question("step", [*self.between(), holds], z3.And(goal, high - low <= (HIGH - LOW) / 2))

    def keeps(self) -> Question:
        """The cut stays in the interval."""
        run, holds = self.step()
        low, high, middle = run.values[self.low], run.values["high"], run.values["middle"]
        monotone = z3.Implies(z3.And(middle >= LOW, middle < HIGH), self.after(middle) == (middle >= CUT))
        goal = z3.And(low <= CUT, high >= CUT)
        return Question("cut", [*self.between(), LOW <= CUT, CUT <= HIGH, holds, monotone], goal)


def path_search(t: Texts) -> Search:
    """The search of a lane in memory."""
    text = plain(t["search"], low="low", high="high", d="d")
    counts = {"a": PARTS, "b": REST}
    return Search(text, "low", {"d": D}, {"a": A, "b": B}, lengths(greatest_count(t)), counts, after)


def tile_search(t: Texts) -> Search:
    """The search of a lane in a tile whose second part is reversed."""
    size, tile = z3.Int("size"), keys("tile")
    given = [*lengths(LOCAL), size == PARTS + REST]
    values = {"d": D, "size": size, "mine": PARTS}

    def follows(x: Any) -> Any:
        return tile(size - 1 - (D - 1 - x)) < tile(x)

    return Search(plain(t["tile"]), "a", values, {"tile": tile}, given, {"tile": size}, follows)


def vector_search(t: Texts) -> Search:
    """The search of a lane in a tile whose parts begin at `first_at` and `second_at`."""
    one, two, room, tile = *(z3.Int(x) for x in ("first_at", "second_at", "room")), keys("tile")
    given = [*lengths(LOCAL), one >= 0, one <= LOCAL, one + PARTS <= two, two <= 3 * LOCAL, room == two + REST]
    values = {"d": D, "mine": PARTS, "second_count": REST, "first_at": one, "second_at": two}

    def follows(x: Any) -> Any:
        return tile(two + D - 1 - x) < tile(one + x)

    return Search(plain(t["vectors"]), "a", values, {"tile": tile}, given, {"tile": room}, follows)


def ring_search(t: Texts) -> Search:
    """The search of a lane in two rings of `p_ring` slots, of which the second begins at `ring`; a tile has at most
    `p_ring` outputs."""
    slots, begin, ring = z3.Int("p_ring"), z3.Int("ring_begin"), keys("ring")
    one, two = z3.Int("slot_a"), z3.Int("slot_b")

    def slot(sum_: str) -> str:
        return plain(t["slot"].replace("p.ring", "p_ring"), sum=sum_)

    less = re.sub(r'\{\{ slot\("(.*?)"\) \}\}', lambda m: slot(f"({m[1]})"), t["less of ranges"])
    less = plain(less.replace("{{ ring }}", "ring_begin"))
    text = t["ranges"].replace("{{ less() }}", less)
    given = [*lengths(1 << 30), slots > 0, slots <= LOCAL, slots >= D, one >= 0, one < slots, two >= 0, two < slots]
    given += [begin >= slots, begin <= 2 * LOCAL]
    values = {"d": D, "left_a": PARTS, "left_b": REST, "slot_a": one, "slot_b": two}
    values |= {"p_ring": slots, "ring_begin": begin}

    def wrapped(i: Any) -> Any:
        return z3.If(i < slots, i, i - slots)

    def follows(x: Any) -> Any:
        return ring(begin + wrapped(two + (D - 1 - x))) < ring(wrapped(one + x))

    return Search(plain(text), "low", values, {"ring": ring}, given, {"ring": begin + slots}, follows)


SEARCHES = {"tile": tile_search, "vectors": vector_search, "ranges": ring_search}


def steps(t: Texts) -> Iterator[Question]:
    """A step of the search of a lane."""
    yield path_search(t).shrinks()


def kept(t: Texts) -> Iterator[Question]:
    """The cut stays in the interval of a lane's search."""
    yield path_search(t).keeps()


def local(t: Texts) -> Iterator[Question]:
    """The searches in local memory: their interval, their steps, and the cut."""
    for name, of in SEARCHES.items():
        search = of(t)
        run = Run(Integers(), dict(search.values), search.arrays, FUNCTIONS)
        run.execute(loop(search.text)[0])
        low, high = run.values[search.low], run.values["high"]
        goal = z3.And(run.legal(), low == least(D, REST), high == greatest(D, PARTS), low <= high)
        yield Question(f"{name}: interval", search.given, goal)
        yield Question(f"{name}: step", *_parts(search.shrinks()))
        yield Question(f"{name}: cut", *_parts(search.keeps()))


def _parts(question: Question) -> tuple[list[Any], Any]:
    return question.given, question.goal


def monotone(t: Texts) -> Iterator[Question]:
    """What a search tests is false up to the cut, and true from it on."""
    x, y = z3.Ints("x y")
    given = [*lengths(greatest_count(t)), least(D, REST) <= x, x < y, y < greatest(D, PARTS)]
    given += [*ascending(A, PARTS, x, y), *ascending(B, REST, D - 1 - x, D - 1 - y)]
    yield Question("order", given, z3.Implies(after(x), after(y)))


def is_stable(t: Texts) -> Iterator[Question]:
    """The index at which a search ends is a stable cut: what it tests is false before, and true there."""
    given = [*lengths(greatest_count(t)), least(D, REST) <= CUT, greatest(D, PARTS) >= CUT]
    given += [z3.Implies(least(D, REST) < CUT, z3.Not(after(CUT - 1)))]
    given += [z3.Implies(greatest(D, PARTS) > CUT, after(CUT))]
    yield Question("cut", given, stable(CUT, D))


def unique(t: Texts) -> Iterator[Question]:
    """An output has one stable cut."""
    x, y = z3.Ints("x y")
    given = [*lengths(greatest_count(t)), stable(x, D), stable(y, D), x < y]
    given += [*ascending(A, PARTS, x, y - 1), *ascending(B, REST, D - y, D - 1 - x)]
    yield Question("cut", given, z3.BoolVal(False))


def first_outputs(t: Texts) -> Iterator[Question]:
    """Keys before the stable cut precede all keys after the cut in a stable merge."""
    i, j = z3.Ints("i j")
    given = [*lengths(greatest_count(t)), stable(CUT, D), i >= 0, i < PARTS, j >= 0, j < REST]
    given += [*ascending(A, PARTS, i, CUT - 1, CUT), *ascending(B, REST, j, D - CUT, D - 1 - CUT)]
    yield Question("first array", given, z3.Implies(z3.And(i < CUT, j >= D - CUT), A(i) <= B(j)))
    yield Question("second array", given, z3.Implies(z3.And(i >= CUT, j < D - CUT), B(j) < A(i)))


def ascend(t: Texts) -> Iterator[Question]:
    """Cuts of later outputs are not lower, and the other array's are not, either."""
    x, y, e = z3.Ints("x y e")
    given = [*lengths(greatest_count(t)), e >= D, e <= PARTS + REST, stable(x, D), stable(y, e)]
    given += [*ascending(A, PARTS, x, y - 1, x - 1, y), *ascending(B, REST, D - x, D - 1 - x, e - y, e - 1 - y)]
    yield Question("cuts", given, z3.And(x <= y, y - x <= e - D))


def clamp(t: Texts) -> Iterator[Question]:
    """A lane's part of both arrays is within them, also where they are not sorted."""
    first, last, begin, end = z3.Ints("first last begin end")
    n = PARTS + REST
    given = [*lengths(greatest_count(t)), begin >= 0, begin < n, begin < end, end <= n]
    for x, d in ((first, begin), (last, end)):
        given += [least(d, REST) <= x, x <= greatest(d, PARTS)]
    run = Run(Integers(), {"first": first, "last": last, "begin": begin, "end": end})
    run.execute(plain(t["clamp"]))
    stop = run.values["last"]
    goal = z3.And(first <= stop, stop <= PARTS, begin - first <= end - stop, end - stop <= REST)
    yield Question("parts", given, z3.And(run.legal(), goal))


def chains(t: Texts) -> Iterator[Question]:
    """Where chains start: within the part of the lane, and at the cut of their first output."""
    numbers = Integers()
    names = ("begin", "end", "first", "last", "length", "parts", "rest", "before", "cut", "middle")
    v = {name: numbers.variable(name) for name in names}
    begin, end, first, last, length, parts, rest, before, cut, middle = v.values()
    for c in range(1, CHAINS):
        given = [begin >= 0, begin <= end, end <= parts + rest, parts + rest <= greatest_count(t), parts <= 2**30]
        given += [rest >= 0, first >= 0, first <= last, last <= parts, begin - first >= 0]
        given += [begin - first <= end - last, end - last <= rest, length >= 0, c * length + length <= end - begin]
        done = begin + (c - 1) * length
        given += [first <= before, before <= last, done - (end - last) <= before, before <= done - (begin - first)]
        text = re.search(r"a\{\{ c \}\} = (.*?)\{% endfor", t["starts of chains"])
        own = plain(text[1], c=str(c))
        code = plain(t["chains"].replace("a{{ c - 1 }}", "before").replace("a{{ c }}", "chain"), c=str(c)) + "}"
        run = Run(numbers, {**v, "chain": None})
        run.values["chain"] = run.value(own)
        run.values |= {"d": numbers.literal(0), "high": numbers.literal(0)}
        run.execute(code)
        low, high, d = run.values["chain"], run.values["high"], run.values["d"]
        goal = z3.And(run.legal(), d == done + length, first <= low, low <= high, high <= last)
        goal = z3.And(goal, d - (end - last) <= low, high <= d - (begin - first), high <= before + length)
        yield Question(f"interval of chain {c}", given, goal)
        inside = z3.And(middle >= 0, middle < parts, d - 1 - middle >= 0, d - 1 - middle < rest)
        yield Question(f"indices of chain {c}", [*given, low <= middle, middle < high], inside)
        facts = [first <= cut, cut <= last, cut - first <= d - begin, last - cut <= end - d]
        facts += [before <= cut, cut <= before + length]
        yield Question(f"sorted: cut of chain {c}", [*given, *facts], z3.And(low <= cut, cut <= high))


def subgroup(t: Texts) -> Iterator[Question]:
    """A round of a search by a subgroup: of each width, each lane, and each number of lanes before the cut."""
    _, condition, body = loop(t["subgroup"])
    numbers = Integers()
    low, high, cut = (numbers.variable(x) for x in ("low", "high", "cut"))
    if "<" not in condition or "high" not in condition:
        raise ValueError("the loop has another condition")
    tests, _, rest = body.partition("bool after = {{ after }};")
    count, _, moves = rest.partition("// the number of lanes whose indices are too low")
    if count.strip() != "int before = hs_popcount_mask(hs_ballot(!after));":
        raise ValueError("the lanes are counted in another way")
    for lanes in WIDTHS:
        words = {"lanes + 1": f"({lanes + 1})", "lanes": f"({lanes})"}
        given = [low >= 0, low < high, high <= greatest_count(t)]
        index = []
        for lane in range(lanes):
            functions = {"hs_lane_id": lambda lane=lane: numbers.literal(lane)}
            run = Run(numbers, {"low": low, "high": high}, functions=functions)
            run.execute(plain(tests, **words))
            index.append(run.values["middle"])
            goal = z3.And(run.legal(), low <= index[-1], index[-1] < high)
            if lane:
                goal = z3.And(goal, index[-2] <= index[-1])
            yield Question(f"lane {lane} of {lanes}", given, goal)
        for before in range(lanes + 1):
            values = {n: x for n, x in run.values.items() if n in ("step", "more")}
            move = Run(numbers, {"low": low, "high": high, "before": numbers.literal(before), **values})
            move.execute(plain(moves, **words))
            new_low, new_high = move.values["low"], move.values["high"]
            goal = z3.And(move.legal(), low <= new_low, new_low <= high, new_high <= high)
            goal = z3.And(goal, new_high - new_low < high - low)
            yield Question(f"any keys: {before} lanes of {lanes}", given, goal)
            known = [low <= cut, cut <= high]
            known += [index[before - 1] < cut] if before else []
            known += [index[before] >= cut] if before < lanes else []
            yield Question(f"{before} lanes of {lanes}", [*given, *known], z3.And(new_low <= cut, cut <= new_high))


def subgroup_test(t: Texts) -> Iterator[Question]:
    """What a lane of a subgroup tests: the same as a single lane, within both arrays."""
    middle = z3.Int("middle")
    text = re.search(r'"(.*)"', t["less of ends"])
    run = Run(Integers(), {"d": D, "middle": middle}, {"a": A, "b": B}, FUNCTIONS)
    found = run.value(plain(text[1]))
    given = [*lengths(greatest_count(t)), least(D, REST) <= middle, middle < greatest(D, PARTS)]
    goal = z3.And(run.legal(), run.within(0, {"a": PARTS, "b": REST}), found == after(middle))
    yield Question("lane", given, goal)


def bits(t: Texts) -> Iterator[Question]:
    """A midpoint in bit-vectors of 32 bits: no overflow, at or above the lower bound, below the upper bound."""
    low, high = z3.BitVec("low", 32), z3.BitVec("high", 32)
    texts_ = {"path": t["search"], "tile": t["tile"], "vectors": t["vectors"], "ranges": t["ranges"]}
    for name, text in texts_.items():
        middle = re.search(r"int middle = (.*?);", plain(text, low="low", high="high"))
        run = Run(Vectors(), {"low": low, "a": low, "high": high})
        found = run.value(middle[1])
        given = [low >= 0, low < high, high <= greatest_count(t)]
        yield Question(name, given, z3.And(run.legal(), low <= found, found < high))


ALL, CHIP = "parts + rest <= 2^30", f"local memory, 2^{LOCAL.bit_length() - 1} slots"
LEMMAS = (
    Lemma("bits: midpoints of 32 bits", ALL, bits),
    Lemma("interval: from the least to the greatest cut", ALL, bounds),
    Lemma("step: legal, in bounds, halves the interval", ALL, steps),
    Lemma("cut: a step keeps it in the interval", ALL, kept),
    Lemma("order: what is tested is monotone; sorted", ALL, monotone),
    Lemma("end: the search ends at a stable cut", ALL, is_stable),
    Lemma("unique: there is one stable cut; sorted", ALL, unique),
    Lemma("outputs: the cut divides the stable merge; sorted", ALL, first_outputs),
    Lemma("ascend: cuts ascend with their outputs; sorted", ALL, ascend),
    Lemma("clamp: a lane's part is in both arrays", ALL, clamp),
    Lemma("chains: where the chains of a lane start", f"{ALL}, {CHAINS} chains", chains),
    Lemma("test of a subgroup: in bounds, as that of a lane", ALL, subgroup_test),
    Lemma("local: tile, vectors and ranges", CHIP, local),
    Lemma("subgroup: rounds end, and keep the cut", f"{ALL}, 1 to {WIDTHS[-1]} lanes", subgroup),
)


@dataclass(frozen=True)
class Answer:
    """The answer to the questions of a lemma: "" if it is proved, otherwise why not, and the counterexample."""

    problem: str = ""
    example: str = ""


def answered(lemma: Lemma, t: Texts) -> Answer:
    """Return the answer of the solver to a lemma."""
    for question in lemma.questions(t):
        solver = z3.Solver()
        solver.set("timeout", SECONDS * 1000)
        solver.add(*question.given, z3.Not(question.goal))
        found = solver.check()
        if found == z3.sat:
            return Answer(f"refuted: {question.what}", _example(solver.model()))
        if found != z3.unsat:
            return Answer(f"unknown: {question.what}: {solver.reason_unknown()}")
    return Answer()


def _example(model: Any) -> str:
    """Return the numbers of a counterexample."""
    numbers = {d.name(): model[d] for d in model.decls() if d.arity() == 0}
    signed = {n: x.as_signed_long() if z3.is_bv_value(x) else x for n, x in numbers.items()}
    return ", ".join(f"{n} = {x}" for n, x in sorted(signed.items()) if not n.startswith(("div0", "mod0")))


def refutation(t: Texts) -> Answer | None:
    """Return the first counterexample to a lemma for texts with a fault; None if no lemma is refuted."""
    for lemma in LEMMAS:
        found = answered(lemma, t)
        if found.problem:
            return Answer(f"{lemma.name.partition(':')[0]}: {found.problem}", found.example)
    return None


def main() -> int:
    """Prove the lemmas, and refute the mutants."""
    failed, started = False, time.monotonic()
    print(f"| lemma | bound | seconds | result |\n|{'---|' * 4}")
    for lemma in LEMMAS:
        begin = time.monotonic()
        found = answered(lemma, texts())
        failed = failed or found != Answer()
        result = " ".join(filter(None, (found.problem, found.example))) or "proved"
        print(f"| {lemma.name} | {lemma.bound} | {time.monotonic() - begin:.2f} | {result} |", flush=True)
    print(f"\n| mutant | seconds | refuted by | counterexample |\n|{'---|' * 4}")
    for mutant in MUTANTS:
        begin = time.monotonic()
        refuted = refutation(mutated(mutant))
        failed = failed or refuted is None or "unknown" in refuted.problem
        found = refuted or Answer("NOT REFUTED")
        seconds = time.monotonic() - begin
        print(f"| {mutant.what} | {seconds:.2f} | {found.problem} | {found.example} |", flush=True)
    print(f"\n{len(LEMMAS)} lemmas, {len(LINES)} texts, {len(MUTANTS)} mutants: {time.monotonic() - started:.0f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
