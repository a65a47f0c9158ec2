"""`--max-n`: sorts for up to N keys are those for any count, without what only more keys need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from nightly import NIGHTLY

from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, launches
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.emit import spirv
from hsgen.targets import target
from hsgen.targets.assembly import notes
from hsgen.targets.target import AUTO

SIGNATURES = {
    PLAIN: Options(),
    Signature(value="v4"): Options(),
    Signature(bit_range=True): Options(begin=1, end=5),
    Signature(device_count=True): Options(device_count=True),
    Signature(run_boundaries=True): Options(shift=2),
}
NAMES = target.names() if NIGHTLY else ["cpu", "intel-gen8", "nvidia-hopper"]


def sorts(name: str) -> Iterator[tuple[Sort, str, str, Signature]]:
    """The sorts of a target, each with its label, key and signature."""
    found = target.find(name)
    for key in ("u8", "u32", "u64") if NIGHTLY else ("u32",):
        for label in [*found.labels(key), *found.implicit(key)]:
            for signature in SIGNATURES:
                with suppress(Usage):
                    yield found.sort(label, key, signature), label, key, signature


def limits(whole: Sort) -> list[int]:
    """Greatest counts: around those at which a sort changes its algorithm, and others."""
    inner = {p.min_n + d for p in whole.parts[:4] for d in (-1, 0, 1)}
    return sorted({n for n in (1, 1000, 1 << 16, *inner, whole.plan.max_n - 1) if 1 <= n < 2**31})


def ran(sort: Sort, n: int, how: Options, *, in_place: bool) -> list[tuple[str, int, int]]:
    """The launches for n keys, or for a capacity of n keys."""
    found = launches(sort.plan, n, in_place=in_place, how=how)
    return [(x.step.kernel, x.argument, x.groups) for x in found]


@pytest.mark.parametrize("name", NAMES)
def test_the_launches_up_to_n_are_the_same(name: str) -> None:
    seen = 0
    for whole, label, key, signature in sorts(name):
        how = SIGNATURES[signature]
        for n in limits(whole):
            some = target.find(name).sort(label, key, signature, n)
            assert some.plan.max_n == min(n, whole.plan.max_n) and some.file == whole.file
            assert {k.name for k in some.kernels} == {s.kernel for s in some.plan.steps}
            assert {k.name for k in some.kernels} <= {k.name for k in whole.kernels}
            assert all(s.guard.at_zero or not s.guard.empty for s in some.plan.steps)
            assert all(s.guard.max_n <= n for s in some.plan.steps)
            assert some.plan.scratch.bytes(n) <= whole.plan.scratch.bytes(n)
            spared = {"few_begin"} - {k.name for k in some.kernels}  # it clears what only kernels for more keys read
            for count in {0, n - 1, n}:
                for in_place in (False, True):
                    got, expected = (ran(x, count, how, in_place=in_place) for x in (some, whole))
                    expected = [x for x in expected if x[0] not in spared]
                    assert got == expected, (label, key, signature, n, count)
            with pytest.raises(Usage, match=f"count {n + 1}: this plan sorts 0 to {some.plan.max_n} keys"):
                list(launches(some.plan, n + 1, in_place=True))
            seen += 1
    assert seen > 20


def test_a_part_of_the_bits_keeps_a_sort_that_can() -> None:
    """Where only bitonic sorts serve the counts, the radix sort remains for it, and nothing else does."""
    found = target.find("intel-gen8")
    few = found.sort(AUTO, "u32", Signature(bit_range=True), 1 << 10)
    assert [(p.algorithm, p.min_n, p.max_n) for p in few.parts] == [("bitonic", 0, 1024), ("radix", 1024, 1024)]
    assert ("radix", "a part of the bits") in notes(few)
    assert {s.guard.range for s in few.plan.steps} == {"whole", "part"}
    plain = found.sort(AUTO, "u32", PLAIN, 1 << 10)
    assert {k.algorithm for k in plain.kernels} == {p.algorithm for p in plain.parts} == {"bitonic"}


def test_few_keys_need_no_module_by_address_and_no_portions() -> None:
    found = target.find("nvidia-vulkan")
    for n, addressed in ((spirv.ADDRESS_FROM, False), (spirv.ADDRESS_FROM + 1, True)):
        assert any(m.address for m in spirv.modules(found.sort(AUTO, "u32", PLAIN, n))) == addressed


@pytest.mark.parametrize("algorithm", ["radix_select", "segmented_sort"])
@pytest.mark.parametrize("name", ["lavapipe", "nvidia-vulkan"])
def test_kernels_of_short_rows_have_modules_by_address(name: str, algorithm: str) -> None:
    """Many short rows are larger than a descriptor's range, too."""
    for n, addressed in ((spirv.ADDRESS_FROM, False), (spirv.ADDRESS_FROM + 1, True)):
        sort = target.find(name).sort(algorithm, "u32", Signature(value="index"), n)
        rows = {s.kernel for s in sort.plan.steps if s.guard.x == "length"}
        modules = {m.kernel for m in spirv.modules(sort) if m.address}
        assert (rows <= modules) if addressed else not modules
        assert rows or algorithm == "segmented_sort"
