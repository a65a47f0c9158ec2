"""Metal's runtime without Metal: its syntax against declarations of Metal, and its encoding on a fake.

The fake (consumers/fake_metal.c) answers Objective-C messages in C, so the runtime runs as shipped, without reference
counting; it has not been run on Apple's systems.
"""

from __future__ import annotations

import random
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from building import CONSUMERS, PREFIX, WARNINGS, bundle, compiled, folder, need, program, run, runtime
from conftest import missing
from objective_c import APPLE, MODES
from sanitizers import SANITIZERS, sanitizes

from hsgen.cli import main
from hsgen.core.interpreter import Launch, Options, launches, offset, spare_at
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.targets import target

SIMD = str(Path(__file__).parents[1] / "device" / "lanes" / "simd32.toml")

VALUES, KEYS = ("none", "v4", "index"), ("u8", "u32", "u64")
FORM = Signature(key_transform=True, bit_range=True, device_count=True)


@pytest.mark.parametrize("prefix", ["hs", PREFIX])
@pytest.mark.parametrize("mode", MODES)
def test_syntax(mode: str, prefix: str) -> None:
    need("clang")
    place = bundle("apple-m1", prefix=prefix, apis=("metal",), keys=("u8",))
    command = ["clang", "-fsyntax-only", *MODES[mode], *WARNINGS, f"-I{APPLE}", f"-I{place / 'include'}"]
    run(*command, *sorted(place.glob("src/*.m")))
    if mode != "c++":
        run(*command, place / "examples/sort_metal.m")


@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang", "clang++"])
def test_a_bundle_is_plain_c_elsewhere(compiler: str) -> None:
    """All except the runtime itself, which no wildcard for C files matches."""
    need(compiler)
    place = bundle("apple-m1", SIMD, apis=("metal",), keys=("u32",))
    language = ("-xc++", "-std=c++11") if "++" in compiler else ("-std=c99",)
    files = [*sorted(place.glob("src/*.c")), *sorted(place.glob("targets/*/*.c"))]
    names = ["hs.c", "hs_call.c", "hs_match.c", "hs_plan.c", "hs_targets.c", "hs_targets_metal.c"]
    names += ["apple-m1.c", "apple-m1_metal.c", "simd32.c", "simd32_metal.c"]
    assert [f.name for f in files] == names
    run(compiler, *language, *WARNINGS, f"-I{place / 'include'}", "-fsyntax-only", *files)


@cache
def player() -> Path:
    """The program that calls the runtime on the fake, built with the sanitizers."""
    if not sanitizes("clang"):
        missing("clang has no sanitizers (apt-get install libclang-rt-dev)")
    place = folder("metal") / "sorts"
    assert main(["generate", "-t", "apple-m1", "--api", "metal", "--key", "u32", "-o", str(place)]) == 0
    more = [f"--key={k}" for k in KEYS] + [f"--value={v}" for v in VALUES]
    features = ["--order=both", "--feature=bit-range", "--feature=device-count"]
    assert main(["generate", "-t", SIMD, "--api", "metal", *more, *features, "-o", str(place)]) == 0
    common = [*WARNINGS, *SANITIZERS, f"-I{place / 'include'}", f"-I{CONSUMERS}", "-std=c99"]
    apple = ["-xobjective-c", "-fno-objc-arc", "-fobjc-runtime=gcc", f"-I{APPLE}"]
    fakes = ["-Dcalloc=fake_calloc", "-include", CONSUMERS / "fake_metal.h"]
    own = compiled("clang", *apple, *common, *fakes, *runtime(place, "metal"))
    sources = [*sorted(place.glob("src/*.c")), *sorted(place.glob("targets/*/*.c"))]
    return program("metal", "clang", *common, CONSUMERS / "metal.c", CONSUMERS / "fake_metal.c", *own, *sources)


def played(mode: str, text: str = "") -> str:
    """Run the program; leaks make it fail."""
    return run(player(), mode, env={"ASAN_OPTIONS": "detect_leaks=1"}, text=text)


def test_every_call_may_fail() -> None:
    out = played("fail")
    assert out.endswith(" 2 names or encoders, 0 wrong\n") and int(out.split()[0]) > 50, out


def test_wrong_calls_get_their_status() -> None:
    assert played("wrong") == "65 statuses and results asked for, 0 wrong\n"


@cache
def sorts() -> list[Sort]:
    """The program's sorts, by target."""
    found = target.find(SIMD)
    plain = target.find("apple-m1").default("u32")
    return [plain, *(found.default(k, replace(FORM, value=v)) for k in KEYS for v in VALUES)]


def line(sort: Sort, n: int, how: Options, in_place: bool) -> str:
    """A call in the program's input format."""
    type_ = sort.plan.bits // 8 << 4 | how.kind if how.kind else 0
    bits = (how.begin, how.end or 0)
    numbers = (n, int(in_place), int(how.device_count), type_, int(how.descending), *bits, int(how.discard))
    return " ".join(map(str, (sort.target, sort.algorithm, sort.label, sort.signature.value, *numbers)))


def encoded(sort: Sort, launch: Launch, n: int, how: Options, in_place: bool) -> str:
    """A dispatch in the program's output format; consumers/metal.c defines the buffer offsets."""
    key, value = sort.key.bytes, sort.signature.value_bytes
    at = {"source": ("a", 3 * key), "destination": ("b", 5 * key), "scratch": ("c", 512), "count": ("f", 44)}
    at |= {"values": ("d", 7 * value), "values_out": ("e", 9 * value)}
    if how.discard:
        at["destination"] = ("c", 512 + spare_at(sort, n))
    elif in_place:
        at["destination"] = at["source"]
        at["values_out"] = at["values_out"] if sort.signature.index else at["values"]
    if not how.device_count:
        at["count"] = at["source"]
    step, (wide, high) = launch.step, launch.grid
    places = [(at[b.role][0], at[b.role][1] + offset(b, n)) for b in step.bindings]
    bound = [f"{i}={tag}+{begin}" for i, (tag, begin) in enumerate(places)]
    numbers = (n, launch.argument, min(step.guard.min_n, 2**31 - 1), min(step.guard.max_n, 2**31 - 1))
    lanes = sort.kernel(step.kernel).work_group
    return " ".join([step.kernel, *bound, f"{len(bound)}={','.join(map(str, numbers))}", f"{wide}x{high}/{lanes}"])


def call(rng: random.Random, sort: Sort) -> tuple[int, Options, bool]:
    """A valid call of the sort: a count, options, and whether in place."""
    most = min(sort.plan.max_n, 2**30 - 1)
    n = rng.choice([0, 1, *(rng.randrange(m) for m in (400, 5000, 1 << 20, most)), most])
    how, bits = Options(), sort.plan.bits
    if sort.signature.key_transform:
        how = Options(
            kind=rng.choice([0, 1] if bits == 8 else [0, 1, 2]),
            descending=rng.random() < 0.5,
            **rng.choice([{}, {"begin": 2, "end": bits - 1}, {"begin": 1, "end": 1}, {"end": 5}]),
            discard=sort.signature.index and rng.random() < 0.3,
            device_count=rng.random() < 0.5,
        )
    return n, how, rng.random() < 0.5 and not how.discard


def test_the_encoded_commands_follow_the_plan() -> None:
    """Every sort with many options and counts: kernels, buffers, numbers, grids, a barrier between steps, and one
    encoder."""
    rng = random.Random(7)
    asked, expected, encoders = [], [], 0
    for number in range(500):
        sort = sorts()[number % len(sorts())]
        n, how, in_place = call(rng, sort)
        steps = launches(sort.plan, n, sort.groups, in_place=in_place, how=how)
        rows = [encoded(sort, x, n, how, in_place) for x in steps]
        encoders += bool(rows)
        asked.append(line(sort, n, how, in_place))
        expected += ["\nbarrier\n".join(rows) + "\nend\n"] * bool(rows) + ["status 0\n"]
    assert played("play", "\n".join(asked) + "\n") == "".join(expected)
    assert 400 < encoders < 500


def test_build_systems_leave_it_out_elsewhere() -> None:
    """Other systems build a bundle with Metal without the runtime."""
    if sys.platform == "darwin":
        pytest.skip("this system builds it")
    need("cmake", "meson", "cc")
    place = bundle("apple-m1", apis=("metal",), keys=("u8",))
    for option in ((), ("-DHS_METAL=ON",)):
        made = folder("cmake")
        run("cmake", "-S", place, "-B", made, *option)
        assert "hs_core" in run("cmake", "--build", made, "--target", "help")
        assert "hs_metal" not in run("cmake", "--build", made, "--target", "help")
    made = folder("meson")
    run("meson", "setup", made, place)
    assert "hs_metal" not in run("meson", "introspect", made, "--targets")


def test_no_file_keeps_another_prefix() -> None:
    """Kernels keep their own names, which no linker sees."""
    place = bundle("apple-m1", prefix=PREFIX, apis=("metal",), keys=("u8",))
    files = [p for p in place.rglob("*") if p.suffix in (".c", ".h", ".m", ".txt", ".build")]
    assert {f"{PREFIX}_metal.m", f"{PREFIX}_metal.h", f"{PREFIX}_targets_metal.c"} <= {p.name for p in files}
    for path in files:
        text = re.sub(r'^ +"(?:\\.|[^"\\])*",$', "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert not re.findall(r".*(?<![A-Za-z0-9])(?:hs[_/.]|HS_).*", text), path.relative_to(place)
