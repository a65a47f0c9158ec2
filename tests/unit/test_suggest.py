"""Suggested shapes: always valid, close to hand-made ones, with correct reasons."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import NIGHTLY

from hsgen.cli import main
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.system import resources
from hsgen.targets import target
from hsgen.tools import suggest
from hsgen.tools.report.facts import facts as reported
from hsgen.tools.suggest import Facts, text
from hsgen.tools.suggest.reading import read

TOP = 'schema = 3\nname = "t"\nsummary = "t"\napis = {apis}\n\n[device]\n{facts}\n\n'

powers = st.integers(0, 7).map(lambda n: 1 << n)
devices = st.builds(
    Device,
    subgroups=st.lists(st.one_of(powers, st.integers(1, 128)), min_size=1, max_size=5).map(tuple),
    shuffle=st.booleans(),
    work_group=st.one_of(st.integers(1, 8192), st.integers(0, 13).map(lambda n: 1 << n)),
    groups=st.integers(1, 1 << 32),
    local_bytes=st.integers(1024, 1 << 18),
    int64=st.booleans(),
    storage8=st.booleans(),
    storage16=st.booleans(),
    binding_bytes=st.integers(1, 1 << 32),
    progress=st.sampled_from(("none", "started")),
    threads=st.none() | st.integers(1, 256),
    units=st.none() | st.integers(1, 32),
    registers=st.none() | st.integers(64, 1 << 18),
    cores=st.none() | st.integers(1, 512),
    local=st.sampled_from(("chip", "memory")),
)
known = st.builds(
    Facts,
    device=devices,
    apis=st.sampled_from((("opencl",), ("vulkan",), ("cuda",), ("opencl", "vulkan"))),
    cpu=st.booleans(),
    vendor=st.sampled_from((0, 0x10DE, 0x1002, 0x8086)),
    ballot=st.booleans(),
)


def file_of(f: Facts, tables: dict[str, suggest.Table]) -> str:
    """The text of a target with these facts and choices."""
    facts = {x.name: getattr(f.device, x.name) for x in fields(f.device)}
    lines = [f"{k} = {text.literal(list(v) if isinstance(v, tuple) else v)}" for k, v in facts.items() if v is not None]
    head = TOP.format(apis=text.literal(list(f.apis)), facts="\n".join(lines))
    return head + "\n".join(text.block(name, table) for name, table in tables.items())


@settings(max_examples=400 if NIGHTLY else 15, deadline=None)
@given(known)
def test_suggestions_are_always_valid_targets(f: Facts) -> None:
    """For every device: hsgen reads them, and generates every sort."""
    tables = suggest.suggest(f)
    found = target.parse(file_of(f, tables), "t", "t.toml")
    have = {label for label, _ in found.choices}
    assert "bitonic" in have
    assert "radix" in have or f.device.local_bytes < 4096  # the minimum that Vulkan allows is 16384
    assert "scan-x4ex" in have or f.device.work_group < 16 or f.device.local_bytes < 4096
    for key in ("u32", "u64"):
        for label in found.labels(key):
            sort = found.sort(label, key)
            assert max(k.work_group for k in sort.kernels) <= f.device.work_group
            assert max(k.local_bytes(sort.key) for k in sort.kernels) <= f.device.local_bytes
            assert not (sort.ballot and not f.ballot)
    if f.device.int64 or f.apis == ("vulkan",):  # two rows of 128 lanes are the least that merges hold
        assert "auto" in found.labels("u64") or f.device.local_bytes < 2 * 128 * 8


def test_no_shape_for_next_to_no_local_memory() -> None:
    device = replace(target.find("generic").device, local_bytes=4)
    with pytest.raises(Usage, match="local_bytes = 4: no shape fits so little local memory"):
        suggest.suggest(Facts(device=device, apis=("opencl",)))


SIZE = "sized for the devices that the file's author had in mind; the facts have no number of cores"
CHARTS = "an estimate for this family alone; the rule knows charts of three devices"
TUNED = "found by hsgen tune on the device"
HOPPER = "as nvidia-sm90, which was tuned; tiles as large as three work-groups on a multiprocessor allow"
ADA = {
    "bitonic.*": "as nvidia-sm90, which was tuned",
    "radix.*": "tiles of which 99 KiB of local memory hold two or three",
    "sort.*": "as many keys as 32 work-groups of one launch hold, an estimate",
    "scan.*": "as nvidia-sm90",
}
EVERYWHERE = {"radix.*.groups": SIZE, "sort.*.ranges": CHARTS}
WEBGPU = "estimates: work-groups of 128 lanes, for 16 KiB of local memory"
DIFFERENT = {
    "adreno-6xx": {
        "bitonic.*": "8 rows and 512 lanes, where the rule has 16 rows and 256: a guess against a guess",
        "radix.*.items": "tiles of which local memory holds two",
    },
    "amd-cdna": {
        "bitonic.*slabs": "quarter blocks, so that small sorts reach more of many compute units",
        "radix.u64.*.items": "two work-groups fit local memory",
    },
    "amd-cdna4": {
        "bitonic.*slabs": "as amd-cdna",
        "radix.*": "tiles of which 160 KiB of local memory hold three",
    },
    "amd-gcn": {
        "bitonic.*slabs": "HotSort's own 1024 lanes; by the rule two blocks fit local memory: one runs while one waits",
        "bitonic.*.bank_pad": "with 16 slabs a block is all of local memory",
    },
    "amd-rdna64": {
        "*": "the target is for wavefronts of 64 lanes, where the rule takes the narrower ones",
    },
    "apple-m1": {
        "bitonic.*": "without subgroups, which OpenCL lacks there",
        "radix.*": "Kieber-Emmons' sort, measured on an M1",
    },
    "cpu": {"*": TUNED},
    "intel-apl12": {
        "bitonic.*slabs": "a third of a subslice's threads, which fill it as well as the rule's half",
        "radix.*.work_group": "multiples of 6 subgroups, like its merges",
    },
    "intel-apl18": {"radix.*.work_group": "multiples of 6 subgroups, like its merges"},
    "intel-dg2": {
        "bitonic.u64.*": "64-bit integers are emulated there: fewer rows, and fewer slabs fit",
    },
    "intel-xe2": {"bitonic.*": "four blocks of 16 slabs fill the threads of a core"},
    "intel-gen11": {
        "bitonic.u64.*": "64-bit integers are emulated there: fewer rows",
        "bitonic.u32.local_scale": "a scale more, which compiles without spills there",
    },
    "intel-gen12": {
        "bitonic.*slabs": "28 slabs: two work-groups are 56 of a half's threads",
        "bitonic.u64.*": "64-bit integers are emulated there: fewer rows",
    },
    "direct3d": {
        "bitonic.u32.*_scale": "estimates, as for other GPUs with subgroups of 16",
        "bitonic.u64.exchange": "64-bit keys may be pairs of words, without a minimum of their own",
        "radix.*.reduce_scan.ranker": "waves vote in one instruction",
    },
    "webgpu": {"radix.*": WEBGPU},
    "webgpu-cpu": {"radix.*": "measured on lavapipe: docs/results/webgpu.md"},
    "webgpu-subgroups": {"radix.*": WEBGPU},
    "lavapipe": {
        "bitonic.u32.*": "subgroups of 8, which most CPUs have; the facts list all that a variable can make",
    },
    "mali-valhall": {"bitonic.*": "8 rows: with few registers twice as many lanes are resident"},
    "nvidia-hopper": {
        "bitonic.*": HOPPER,
        "radix.*": HOPPER,
        "scan.u32.*": "sections, whose shapes were compared on an H200: docs/results/h200.md",
        "sort.*": "one radix sort more than the rule knows, and estimates of crossovers",
    },
    "nvidia-blackwell": {
        "bitonic.*": HOPPER,
        "radix.*": HOPPER,
        "scan.u32.*": "sections, as nvidia-hopper",
        "sort.*": "as nvidia-hopper",
    },
    "nvidia-ada": ADA,
    "nvidia-blackwell-rtx": ADA,
    "nvidia-sm30": {
        "bitonic.u64.*_scale": "a lane has 63 registers at most there",
    },
    "nvidia-sm90": {"*": TUNED},
    "nvidia-vulkan": {"*": "as nvidia-sm90, which was tuned; buckets as measured through Vulkan"},
    "nvidia-tegra": {
        "bitonic.u64.*": "scales of the family, and fewer lanes",
        "radix.u64.*.items": "registers for two work-groups",
    },
    "swiftshader": {
        "bitonic.u64.*": "Fuchsia's 16 slabs; the rule has 32, as both have for 32-bit keys",
    },
}
"""Differences between shipped targets and the rule, with the reason for each."""


def differing(name: str) -> dict[str, tuple[object, object]]:
    """The choices in which a target's file and the rule differ: (file, rule)."""
    have = text.choice_tables((resources.targets() / f"{name}.toml").read_text(encoding="utf-8"))
    made = suggest.suggest(suggest.facts(target.find(name)))
    return {
        f"{row['table']}.{row['key']}": (row["file"], row["value"])
        for row in text.rows({at: table for at, table in made.items() if at in have}, have)
        if not row["same"]
    }


@pytest.mark.parametrize("name", target.names())
def test_the_rule_is_close_to_hand_made_choices(name: str) -> None:
    """Equal, or listed with a reason; unused reasons are errors."""
    listed = {**EVERYWHERE, **DIFFERENT.get(name, {})}
    different = differing(name)
    assert [at for at in different if not any(fnmatchcase(at, p) for p in listed)] == []
    stale = [p for p in DIFFERENT.get(name, {}) if not any(fnmatchcase(at, p) for at in different)]
    assert stale == []


@pytest.mark.parametrize(
    ("name", "key", "shape"),
    [
        ("intel-gen8", "u32", (16, 8, 16)),
        ("intel-gen8", "u64", (8, 16, 16)),
        ("intel-apl18", "u32", (8, 16, 18)),
        ("intel-apl18", "u64", (8, 16, 18)),
        ("nvidia-sm35", "u32", (32, 16, 16)),
        ("nvidia-sm35", "u64", (32, 8, 16)),
        ("nvidia-tegra", "u32", (32, 16, 8)),
        ("amd-rdna", "u32", (32, 16, 16)),
        ("mali-bifrost4", "u32", (4, 16, 8)),
        ("mali-bifrost8", "u64", (8, 8, 8)),
        ("swiftshader", "u32", (4, 16, 32)),
        ("cpu", "u32", (16, 16, 16)),
        ("generic", "u64", (1, 8, 256)),
    ],
)
def test_shapes_of_the_known_families(name: str, key: str, shape: tuple[int, int, int]) -> None:
    """Lanes, rows and slabs by the rule; most are HotSort's own."""
    table = suggest.suggest(suggest.facts(target.find(name)))[f"bitonic.{key}"]
    assert tuple(table[k].value for k in ("subgroup", "height", "slabs")) == shape


def test_the_rule_follows_the_facts() -> None:
    """Fewer threads, registers or bytes, and missing shuffles, each change the right choices and no others."""
    base = target.find("nvidia-sm35").device

    def shape(**facts: object) -> dict[str, object]:
        made = suggest.suggest(Facts(device=replace(base, **facts), apis=("cuda",), vendor=0x10DE))  # type: ignore[arg-type]
        (radix,) = (table for name, table in made.items() if name.startswith("radix.u32."))
        return {k: c.value for k, c in made["bitonic.u32"].items()} | {"ranker": radix["ranker"].value}

    whole = shape()
    assert shape(threads=16)["slabs"] == 8
    assert shape(registers=16384)["slabs"] == 4
    little = shape(local_bytes=16384)  # a block without slack between its columns
    assert (little["slabs"], little["height"], little["bank_pad"]) == (8, 16, 0)
    assert shape(local_bytes=15000)["slabs"] == 4
    assert shape(registers=None)["height"] == 8
    none = shape(shuffle=False)
    assert (none["subgroup"], none["ranker"]) == (1, "bitmask")
    assert shape(storage8=False, binding_bytes=1, groups=65535) == whole
    narrow = shape(subgroups=(8, 16))
    assert (narrow["subgroup"], narrow["height"], narrow["ranker"]) == (16, 8, "match_broadcast")


def test_optional_facts_are_read_and_reported(tmp_path: Path) -> None:
    text_of = (resources.targets() / "generic.toml").read_text(encoding="utf-8").replace('"generic"', '"mine"')
    more = 'threads = 24\nunits = 3\nregisters = 9999\ncores = 7\nlocal = "memory"\n'
    found = target.parse(text_of.replace('progress = "none"\n', 'progress = "none"\n' + more, 1), "mine", "mine.toml")
    assert (found.device.threads, found.device.registers, found.device.local) == (24, 9999, "memory")
    said = dict(reported(found))
    assert said["a core"] == "24 subgroups at once, 3 SIMD units, 9999 registers"
    assert said["cores"] == "up to 7" and "ordinary memory" in said["local memory"]
    for line in ("threads = 0", 'local = "disk"', "registers = 1.5"):
        with pytest.raises(Usage, match=line.split(" ")[0]):
            target.parse(text_of.replace('progress = "none"\n', f'progress = "none"\n{line}\n', 1), "mine", "mine.toml")


def test_suggest_prints_tables_with_reasons_and_differences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", "-t", "intel-gen8", "--key", "u32"]) == 0
    out = capsys.readouterr().out
    made = tomllib.loads(out)
    assert set(made) == {"bitonic", "radix", "sort", "scan"} and set(made["bitonic"]) == {"u32"}
    assert "slabs = 16 # a power of two of which the 56 threads of a core take two or more\n" in out
    assert "groups = 512 # 512, since it is not known how many the device holds; the file has 64\n" in out
    assert "[scan.u32.x1] # the file has none\n" in out
    assert max(map(len, out.splitlines())) <= 120


def test_suggest_json_has_every_value_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", "-t", "cpu", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len({(r["table"], r["key"]) for r in rows}) == len(rows)
    assert all(set(r) == {"table", "key", "value", "file", "same", "reason"} for r in rows)
    [stream] = [r for r in rows if (r["table"], r["key"]) == ("radix.u32.per_thread", "stream_from")]
    assert stream == {
        "table": "radix.u32.per_thread",
        "key": "stream_from",
        "value": None,
        "file": 8388608,
        "same": False,
        "reason": "left to its default",
    }


def test_facts_alone_suffice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without choices; its facts are still checked, and the printed text completes it."""
    whole = (resources.targets() / "generic.toml").read_text(encoding="utf-8").replace('"generic"', '"mine"')
    bare = whole[: whole.index("[bitonic.u32]")]
    (tmp_path / "mine.toml").write_text(bare, encoding="utf-8")
    name = str(tmp_path / "mine.toml")
    assert main(["suggest", "-t", name]) == 0
    out = capsys.readouterr().out
    assert "the file" not in out
    assert target.parse(bare + out, "mine", "mine.toml").labels("u64")[0] == "auto"
    assert read(name)[1] == {}
    (tmp_path / "mine.toml").write_text(
        bare.replace("work_group = 256", "work_group = 0\nthread = 1"), encoding="utf-8"
    )
    assert main(["suggest", "-t", name]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and "device.thread: unknown key; did you mean threads?" in said[0]
    assert "device.work_group: 0 is not between" in said[1]
