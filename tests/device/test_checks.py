"""Digests on devices: every fault of a sort is detected; digests equal those of numpy.

Through pyopencl on the embedded device and PoCL, and through the C function that compares digests.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faulty import Idle
from nightly import nightly
from tools import need

from hsgen.cli import main
from hsgen.core.errors import Usage, Wrong
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit import c_files
from hsgen.emit.kernels import Source
from hsgen.engines import isolated_build
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.opencl import Checker
from hsgen.operations import digest as digests
from hsgen.operations import oracle
from hsgen.operations.digest import Digest
from hsgen.system import resources, toolchain
from hsgen.targets import target
from hsgen.tools.validate import large

N, MORE = 9001, 300
BITS = {"order": 1, "keys": 2, "values": 4, "stable": 8, "beyond": 16}
ORDERS = [("u32", "ascending"), ("i64", "descending"), ("f16", "ascending"), ("u8", "descending")]


class Case:
    """Arrays of N keys followed by MORE others, with indices as values, and their stable sort; digests of changed
    copies."""

    def __init__(self, host: Host, target: str, key: str, order: str, *, few: bool = True) -> None:
        context = context_for(host)
        self.queue = toolchain.pyopencl().CommandQueue(context)
        self.checker = Checker(context, key, target=target, value=4, order=order)
        rng, bits = np.random.default_rng(4), int(key[1:])
        self.raw = rng.integers(0, 1 << bits, N + MORE, np.uint64).astype(f"u{bits // 8}")
        if few:
            self.raw[: N // 2] = self.raw[0]
        self.places = np.arange(N + MORE, dtype=np.uint32)
        how = self.checker._calls.options
        self.order = oracle.permutation(self.raw[:N], self.checker._sort, how)
        self.before = self.of(self.raw, self.places)

    def of(self, raw: Any, values: Any) -> Digest:
        import pyopencl.array as cl_array

        keys = cl_array.to_device(self.queue, raw.view(self.checker.dtype))
        return self.checker(self.queue, keys, cl_array.to_device(self.queue, values), n=N, size=N + MORE)

    def sorted(self) -> tuple[Any, Any]:
        tail = np.arange(N, N + MORE)
        order = np.concatenate([self.order, tail])
        return self.raw[order], self.places[order]

    def equal(self, keys: Any) -> int:
        """The index of a key that equals the next one."""
        return int(np.flatnonzero(keys[: N - 1] == keys[1:N])[-1])

    def falls(self, keys: Any) -> int:
        """The index of a key that differs from the next one."""
        return int(np.flatnonzero(keys[: N - 1] != keys[1:N])[-1])


def wronged(case: Case, what: str) -> tuple[Any, Any]:
    """Return the sorted arrays with one fault."""
    keys, values = case.sorted()
    at, same = case.falls(keys), case.equal(keys)
    if what == "lost":
        keys[at] = keys[at + 1]
    if what == "duplicated":
        keys[at + 1] = keys[at]
    if what == "swapped":
        keys[[at, at + 1]], values[[at, at + 1]] = keys[[at + 1, at]], values[[at + 1, at]]
    if what == "astray":
        values[[at, at + 1]] = values[[at + 1, at]]
    if what == "unstable":
        values[[same, same + 1]] = values[[same + 1, same]]
    if what == "key beyond":
        keys[N] ^= keys.dtype.type(1)
    if what == "value beyond":
        values[-1] += 1
    if what == "exchanged beyond":
        keys[[N, N + 1]] = keys[[N + 1, N]]
    return keys, values


FAULTS = {
    "lost": {"keys", "values"},
    "duplicated": {"keys", "values"},
    "swapped": {"order"},
    "astray": {"values"},
    "unstable": {"stable"},
    "key beyond": {"beyond"},
    "value beyond": {"beyond"},
    "exchanged beyond": {"beyond"},
}


@pytest.mark.device
@pytest.mark.parametrize("target", ["cpu", "generic", "intel-gen8"])
@pytest.mark.parametrize(("key", "order"), ORDERS)
def test_every_fault_is_seen(embedded: Host, target: str, key: str, order: str) -> None:
    case = Case(embedded, target, key, order)
    keys, values = case.sorted()
    assert case.of(keys, values).faults(case.before, stable=True) == ()
    for what, faults in FAULTS.items():
        found = case.of(*wronged(case, what))
        assert set(found.faults(case.before, stable=True)) >= faults, what
        if what in ("unstable", "swapped", "astray") or "beyond" in what:
            assert set(found.faults(case.before, stable=True)) - {"stable"} == faults - {"stable"}, what
    assert "stable" not in case.of(*wronged(case, "unstable")).faults(case.before)


@pytest.mark.device
def test_the_words_are_those_of_numpy(pocl: Host) -> None:
    for key in ("u32", "f64", "i8"):
        case = Case(pocl, "generic", key, "descending")
        for arrays in (case.sorted(), (case.raw, case.places), wronged(case, "lost")):
            right = digests.model(case.checker._sort, arrays[0], arrays[1][:, None], N, case.checker._calls.options)
            assert case.of(*arrays) == right, key


@pytest.mark.device
def test_an_argsort_is_compared_with_its_input(embedded: Host) -> None:
    import pyopencl.array as cl_array

    context = context_for(embedded)
    queue = toolchain.pyopencl().CommandQueue(context)
    raw = np.random.default_rng(1).integers(0, 50, N, np.uint32)
    order = np.argsort(raw, kind="stable").astype(np.uint32)
    before = Checker(context, "u32", value="index")(queue, cl_array.to_device(queue, raw))
    after = Checker(context, "u32", value=4)
    for places, faults in ((order, ()), (order[::-1].copy(), ("values", "stable"))):
        found = after(queue, cl_array.to_device(queue, raw[order]), cl_array.to_device(queue, places))
        assert found.faults(before, stable=True) == faults


@pytest.mark.device
def test_no_keys_have_a_digest(embedded: Host) -> None:
    import pyopencl.array as cl_array

    context = context_for(embedded)
    queue = toolchain.pyopencl().CommandQueue(context)
    checker, keys = Checker(context, "u32", target="generic"), cl_array.zeros(queue, 5, np.uint32)
    assert checker(queue, keys, n=0).words == (0,) * 8
    assert checker(queue, keys, n=0, size=5).words[6] != 0
    with pytest.raises(ValueError, match="keys holds 5 keys, 6 are to be checked"):
        checker(queue, keys, n=2, size=6)
    with pytest.raises(ValueError, match="values are given; this checker's are none"):
        checker(queue, keys, keys)


PROGRAM = """#include "hs.h"
#include <stdio.h>
int main(void)
{
    uint32_t words[16], faults, i;
    int stable;
    while (scanf("%d", &stable) == 1) {
        for (i = 0; i < 16; i++) if (scanf("%u", &words[i]) != 1) return 2;
        if (hs_digest_compare(words, words + 8, stable, &faults) != HS_OK) return 3;
        printf("%u\\n", (unsigned)faults);
    }
    return hs_digest_compare(words, NULL, 0, &faults) == HS_ERROR_ARGUMENT ? 0 : 4;
}
"""


def test_c_says_the_same(tmp_path: Path) -> None:
    need("gcc")
    (tmp_path / "hs").mkdir()
    runtime = resources.templates() / "bundle"
    for path in runtime.glob("hs*.[ch]"):
        text = c_files.completed(path.read_text(encoding="utf-8"))
        (tmp_path / "hs" / path.name).write_text(text, encoding="utf-8")
    (tmp_path / "main.c").write_text(PROGRAM, encoding="utf-8")
    made = tmp_path / "main"
    units = [tmp_path / "main.c", *(tmp_path / "hs" / name for name in c_files.CORE)]
    command = ["gcc", "-std=c99", f"-I{tmp_path}", f"-I{tmp_path / 'hs'}", *units]
    subprocess.run([*command, "-o", made], check=True, capture_output=True)
    rng = np.random.default_rng(2)
    cases = []
    for _ in range(200):
        before = [int(w) for w in rng.integers(0, 1 << 32, 8)]
        before[4] = 5
        after = [w if rng.integers(3) else w ^ 1 for w in before]
        after[4:6] = [int(w) for w in rng.integers(0, 2, 2)]
        cases.append((int(rng.integers(2)), before, after))
    text = "\n".join(" ".join(map(str, (s, *b, *a))) for s, b, a in cases)
    out = subprocess.run([made], input=text, check=True, capture_output=True, text=True).stdout
    for said, (stable, before, after) in zip(out.splitlines(), cases, strict=True):
        faults = Digest(tuple(after)).faults(Digest(tuple(before)), stable=bool(stable))
        assert int(said) == sum(BITS[name] for name in faults)


@pytest.mark.device
@pytest.mark.parametrize("value", ["none", nightly("v8"), "index", nightly("index64"), "packed"])
def test_large_counts_are_checked_on_the_device(embedded: Host, value: str) -> None:
    found = target.find("cpu")
    sort = found.sort("auto", "u32", Signature(value=value))
    by, context = large.checks(found, sort), context_for(embedded)
    engine = Direct(context, Compiled(context, sort))
    assert large.faults(engine, by, 200_000, 3) == ()
    assert "order" in large.faults(Idle(engine), by, 200_000, 3)
    with pytest.raises(Usage, match=r"cpu/auto_u32.* is checked for up to"):
        large.faults(engine, by, 1 << 40, 3)


def test_what_cannot_be_checked_so_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["validate", "-t", "cpu", "--key", "u32", "--large", "1000"]
    assert main([*command, "--feature", "device-count"]) == 2
    assert "only sorts without a count on the device, changes and an epilogue are checked so" in capsys.readouterr().err
    assert main([*command, "--full"]) == 2
    assert "--large excludes --full and --record" in capsys.readouterr().err


def test_a_compiler_that_crashes_on_the_check(
    embedded: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digest's kernels are tried in another process, as those of the sort are."""

    def check(device: str, sort: Sort, source: Source) -> None:
        if sort.algorithm == "digest":
            raise Wrong(f"{source.path}: the compiler crashed")

    monkeypatch.setattr(isolated_build, "check", check)
    assert main(["validate", "-t", "cpu", "--key", "u32", "--large", "1000", "--device", embedded.platform]) == 1
    said = capsys.readouterr().err.splitlines()  # perhaps with a line on evidence of other devices
    assert "hsgen: targets/cpu/kernels/opencl/digest_u32.cl: the compiler crashed" in said
