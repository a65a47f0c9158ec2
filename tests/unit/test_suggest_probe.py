"""Target files from recorded queries of real devices: valid, close to the family's own target, and without claims."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hsgen.apis import APIS
from hsgen.cli import main
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.engines.hosts import Host, matches
from hsgen.engines.query import properties
from hsgen.targets import target
from hsgen.tools.suggest import probing, query
from hsgen.tools.suggest.query import SAFE

QUERIES = Path(__file__).with_name("queries")
NAMES = sorted(p.stem for p in QUERIES.glob("*.json"))


def recorded(name: str) -> query.Query:
    """A query recorded in this folder."""
    return query.read(QUERIES / f"{name}.json")


def host(q: query.Query, name: str | None = None) -> Host:
    """The device of a query, or the same one under another name."""
    said = q.properties
    return Host(
        api=q.api,
        platform=said.get("platform", ""),
        name=name or said["name"],
        driver=said.get("driver", ""),
        version="",
        type=said["type"],
        vendor=said["vendor"],
        work_group=said["work_group"],
        local_bytes=said["local_bytes"],
        shuffle=said["shuffle"],
        handle=0,
        compute=said.get("compute", 0),
    )


def test_the_recorded_devices_are_of_every_vendor_and_say_where_they_are_from() -> None:
    found = [recorded(n) for n in NAMES]
    assert {0x8086, 0x1002, 0x10DE, 0x13B5, 0x5143, 0x106B} <= {q.properties["vendor"] for q in found}
    assert all(len(q.source) > 30 for q in found)
    assert all(query.parse(q.text(), "again") == q for q in found)


@pytest.mark.parametrize("name", NAMES)
def test_a_query_becomes_a_target(name: str) -> None:
    """The parsed file has every sort, matches only its own device, and has no evidence."""
    q = recorded(name)
    text = probing.written(q, "mine")
    found = target.parse(text, "mine", "mine.toml")
    assert found.apis == (q.api,) and found.evidence == ()
    keys = ["u32"] + ["u64"] * (q.properties["int64"] or q.api == "vulkan")
    for key in keys:
        assert {"auto", "radix"} <= set(found.labels(key))
        for label in found.labels(key):
            sort = found.sort(label, key)
            assert max(k.work_group for k in sort.kernels) <= q.properties["work_group"]
            assert sort.lanes in (1, *q.properties["subgroups"])
            if most := q.properties.get("group_subgroups"):
                assert all(k.work_group <= most * sort.lanes for k in sort.kernels if k.subgroup > 1)
    assert matches(found, host(q)) and not matches(found, host(q, "Another"))
    assert max(map(len, text.splitlines())) <= 120 and text.isascii()


@pytest.mark.parametrize("name", NAMES)
def test_every_fact_says_where_it_is_from(name: str) -> None:
    q = recorded(name)
    table = probing.written(q, "mine").split("[device]\n")[1].split("\n\n")[0]
    probe = APIS[q.api].probe
    assert probe is not None
    said = dict(line.split(" # ", 1) for line in table.splitlines() if not line.startswith("#"))
    for setting, why in said.items():
        key = setting.split(" = ")[0]
        if key in ("work_group", "cores"):  # these may follow from several members
            assert why.startswith(probe.origins[key]) or "subgroups of" in why
        elif q.properties.get(key) or q.properties.get(key) is False:
            assert why == probe.origins[key]
        else:
            assert "not reported" in why or key in ("progress", "local"), (setting, why)


@pytest.mark.parametrize(
    ("name", "family", "key"),
    [
        ("intel-uhd-opencl", "intel-gen8", "u32"),
        ("intel-uhd-opencl", "intel-gen8", "u64"),
        ("intel-hd620", "intel-gen8", "u64"),
        ("nvidia-rtx2070", "nvidia-sm35", "u32"),
        ("nvidia-rtx2070", "nvidia-sm35", "u64"),
        ("amd-navi21", "amd-rdna", "u32"),
        ("amd-navi21", "amd-rdna", "u64"),
        ("cpu-intel-opencl", "cpu", "u32"),
        ("cpu-lavapipe", "lavapipe", "u64"),
    ],
)
def test_shapes_of_a_probed_device_are_those_of_its_family(name: str, family: str, key: str) -> None:
    found = target.parse(probing.written(recorded(name), "mine"), "mine", "mine.toml")
    own, theirs = found.choices["bitonic", key], target.find(family).choices["bitonic", key]
    assert (own.subgroup, own.height, own.slabs) == (theirs.subgroup, theirs.height, theirs.slabs)


def test_facts_that_an_api_does_not_report_get_safe_values() -> None:
    found = target.parse(probing.written(recorded("qualcomm-adreno620"), "mine"), "mine", "mine.toml").device
    assert (found.groups, found.binding_bytes, found.storage8, found.progress) == (65535, 1 << 27, False, "none")
    assert set(SAFE) <= set(Device.__slots__)
    limited = target.parse(probing.written(recorded("intel-hd620"), "mine"), "mine", "mine.toml").device
    assert limited.work_group == 56 * 8  # of 1024: maxComputeWorkgroupSubgroups, in the least width
    device_count = target.parse(probing.written(recorded("intel-uhd-opencl"), "mine"), "mine", "mine.toml").device
    assert device_count.cores == 3  # of 24 compute units, which are SIMD units there


@pytest.mark.parametrize(
    ("name", "progress"),
    [("nvidia-rtx2070", "started"), ("amd-rx570", "started"), ("apple-m1", "none"), ("arm-mali-g57", "none")],
)
def test_only_known_devices_have_forward_progress(name: str, progress: str) -> None:
    found = target.parse(probing.written(recorded(name), "mine"), "mine", "mine.toml")
    assert found.device.progress == progress
    looks = any(getattr(p, "looks_back", False) for p in found.choices.values())
    assert looks == (progress == "started")


def changed(**more: Any) -> query.Query:
    """The query of a small CUDA device, with changes."""
    said = {
        "name": "NVIDIA T",
        "platform": "NVIDIA CUDA",
        "driver": "1",
        "type": "gpu",
        "vendor": 0x10DE,
        "compute": 90,
    }
    said |= {"work_group": 1024, "local_bytes": 232448, "subgroups": [32], "shuffle": True, "ballot": True}
    said |= {"int64": True, "storage8": True, "storage16": True, "groups": (1 << 31) - 1, "cores": 132, "threads": 64}
    return query.Query(api="cuda", properties={**said, "registers": 65536, "binding_bytes": (1 << 32) - 1, **more})


def test_a_cuda_device_names_its_compiler_and_its_capability() -> None:
    found = target.parse(probing.written(changed(), "mine"), "mine", "mine.toml")
    assert found.isa == {"cuda": ("sm_90",)} and found.match.compute == (90, 90)
    assert found.choices["scan-x1", "u32"].groups == 8 * 132
    assert target.parse(probing.written(changed(compute=99), "mine"), "mine", "mine.toml").isa == {}


@pytest.mark.parametrize("name", ['GPU "9"', "Gr\u00e4fik 5", "hs_device", "a\\b", "\u5176\u5b83", "x*/y"])
def test_names_that_cannot_stand_in_c_are_cleaned(name: str) -> None:
    found = target.parse(probing.written(changed(name=name), "mine"), "mine", "mine.toml")
    assert found.match.names == () and found.match.compute == (90, 90)
    assert found.summary.isascii()


def test_without_votes_no_ballot_is_used() -> None:
    found = target.parse(probing.written(changed(ballot=False), "mine"), "mine", "mine.toml")
    assert found.choices["radix", "u32"].ranker == "match_broadcast"
    wide = target.parse(probing.written(changed(ballot=False, subgroups=[64]), "mine"), "mine", "mine.toml")
    assert (wide.choices["radix", "u32"].ranker, wide.choices["radix", "u32"].subgroup) == ("bitmask", 1)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("{", ["Expecting property name"]),
        ("[]", ["is no JSON object; give the output of hsgen probe --raw"]),
        (
            '{"schema": 2, "api": "metal"}',
            ["schema: 2 is not between 1 and 1", 'api: "metal" is not one of', "device: missing"],
        ),
        (
            '{"schema": 1, "api": "cuda", "devices": {}}',
            ["devices: unknown key; did you mean device?"],
        ),
    ],
)
def test_wrong_queries_say_all_that_is_wrong(text: str, lines: list[str]) -> None:
    with pytest.raises(Usage) as e:
        query.parse(text, "q.json")
    assert len(e.value.lines) == len(lines)
    assert all(said.startswith("q.json: ") and line in said for said, line in zip(e.value.lines, lines, strict=True))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"subgroups": []}, "device.subgroups: is empty"),
        ({"subgroups": [256]}, "device.subgroups: 256 is not between 1 and 128"),
        ({"work_group": 0}, "device.work_group: 0 is not between"),
        ({"type": "npu"}, 'device.type: "npu" is not one of cpu, gpu, other'),
        ({"local_bytes": "48K"}, 'device.local_bytes: "48K" is not a whole number'),
        ({"warp": 32}, "device.warp: unknown key"),
    ],
)
def test_wrong_members_of_a_query(change: dict[str, Any], line: str) -> None:
    with pytest.raises(Usage) as e:
        query.parse(changed(**change).text(), "q.json")
    assert str(e.value).startswith(f"q.json: {line}")


def test_probe_writes_from_a_query_and_says_what_to_do_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["probe", "--query", str(QUERIES / "nvidia-rtx2070.json"), "-o", "my-rtx.toml"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "hsgen validate -t my-rtx.toml --api vulkan" in out and "hsgen tune -t my-rtx.toml" in out
    first = Path("my-rtx.toml").read_text(encoding="utf-8")
    assert tomllib.loads(first)["name"] == "my-rtx"
    Path("my-rtx.toml").write_text("mine", encoding="utf-8")
    assert main(command) == 2 and "exists; replace it with --force" in capsys.readouterr().err
    assert Path("my-rtx.toml").read_text(encoding="utf-8") == "mine"
    assert main([*command, "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"path": "my-rtx.toml", "target": "my-rtx", "api": "vulkan", "device": "NVIDIA GeForce RTX 2070"}
    ]
    assert Path("my-rtx.toml").read_text(encoding="utf-8") == first
    assert [p.name for p in tmp_path.iterdir()] == ["my-rtx.toml"]


def test_the_harness_output_is_a_query() -> None:
    """For CUDA and Vulkan: every member is known, zeros are omitted, and warps are subgroups of 32."""
    told = {"groups": 2147483647, "cores": 132, "threads": 64, "registers": 65536}
    cuda = replace(host(changed()), widths=(1, 2, 4, 8, 16, 32))
    cuda = replace(cuda, more={**told, "shared_bytes": 49152, "memory_bytes": 150_000_000_000}, ballot=True)
    found = query.parse(query.Query(api="cuda", properties=properties(cuda)).text(), "q")
    assert found.properties["subgroups"] == [32] and found.properties["binding_bytes"] == (1 << 32) - 1
    assert {k: found.properties[k] for k in told} == told and found.properties["storage8"] is True
    more = {"storage8": False, "groups": 65535, "group_subgroups": 0, "vulkan": "1.3", "cores": 0, "threads": 0}
    vulkan = replace(host(recorded("arm-mali-g57")), widths=(1, 16), more=more)
    said = query.parse(query.Query(api="vulkan", properties=properties(vulkan)).text(), "q").properties
    assert (
        said["subgroups"] == [16]
        and said["storage8"] is False
        and "cores" not in said
        and "group_subgroups" not in said
    )
    assert properties(replace(vulkan, widths=(1,)))["subgroups"] == [1]
