"""Device selection, for recorded lists of devices: one function decides for all commands.

- --device names one device, or is refused with the names that work; without it the order is fixed.
- `validate`, `bench`, `tune` and `probe` select the same device.
- No run on a device of another target is evidence for its own devices.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hsgen.cli import bench, engines, main, tune, validate
from hsgen.core.errors import Unavailable, Usage
from hsgen.engines import hosts, query, selection
from hsgen.engines.hosts import Host
from hsgen.system import resources
from hsgen.targets import target
from hsgen.tools.suggest import probing
from hsgen.tools.suggest.query import Query
from hsgen.tools.tune import spread
from hsgen.tools.tune.detected import of_host

INTEL, AMD, NVIDIA, MESA = 0x8086, 0x1002, 0x10DE, 0x10005
POCL, EMBEDDED = "Portable Computing Language", "Intel(R) OpenCL"
LOCAL = 1 << 18  # bytes of local memory that Intel's runtime for CPUs reports
XEON, EPYC = "Intel(R) Xeon(R) Platinum 8480+", "AMD EPYC 7763 64-Core Processor"


def device(name: str, platform: str, kind: str = "cpu", vendor: int = INTEL, **more: Any) -> Host:
    """Return a device as a machine lists it."""
    facts: dict[str, Any] = {
        "driver": "1",
        "version": "OpenCL 3.0",
        "work_group": 4096,
        "local_bytes": 65536,
        "shuffle": True,
        "ballot": True,
        "widths": (4, 8, 16, 32, 64),
        "handle": (platform, name),
    }
    return Host(platform=platform, name=name, type=kind, vendor=vendor, **{**facts, **more})


def numbered(*some: Host) -> list[Host]:
    return [replace(h, handle=i) for i, h in enumerate(hosts.numbered(some))]


def pocl(name: str) -> Host:
    return device(name, POCL, shuffle=False, ballot=False, widths=())


INTEL_CPU = numbered(pocl(f"cpu-sapphirerapids-{XEON}"), device(XEON, EMBEDDED, local_bytes=LOCAL))
AMD_CPU = numbered(pocl(f"pthread-znver3-{EPYC}"), device(EPYC, EMBEDDED, local_bytes=LOCAL))
NEW_POCL = numbered(device(f"cpu-znver3-{EPYC}", POCL), device(EPYC, EMBEDDED, local_bytes=LOCAL))
LAPTOP = numbered(
    pocl("cpu-tigerlake-11th Gen Intel(R) Core(TM) i7-1185G7"),
    device("Intel(R) Iris(R) Xe Graphics", "Intel(R) OpenCL Graphics", "gpu", widths=(8, 16, 32)),
    device("11th Gen Intel(R) Core(TM) i7-1185G7", EMBEDDED, local_bytes=LOCAL),
)
GPUS = numbered(
    *[device("NVIDIA H200", "NVIDIA CUDA", "gpu", NVIDIA, shuffle=False)] * 2, device(XEON, EMBEDDED, local_bytes=LOCAL)
)
CUDA = numbered(*[device("NVIDIA H200", "NVIDIA CUDA", "gpu", NVIDIA, api="cuda", compute=90, local_bytes=232448)] * 2)
VULKAN = numbered(
    device("llvmpipe (LLVM 19.1.7, 256 bits)", "llvmpipe", vendor=MESA, api="vulkan", widths=(8,)),
    device("AMD Radeon RX 6800 XT (RADV NAVI21)", "radv", "gpu", AMD, api="vulkan", widths=(32, 64)),
)
MACHINES = {
    "Intel CPU": INTEL_CPU, "AMD CPU": AMD_CPU, "PoCL with subgroups": NEW_POCL, "laptop": LAPTOP, "GPUs": GPUS,
    "CUDA": CUDA, "Vulkan": VULKAN,
}  # fmt: skip


@pytest.mark.parametrize("found", MACHINES.values(), ids=MACHINES)
def test_a_specification_names_its_device_and_no_other(found: list[Host]) -> None:
    """Also in another case, and by the label in results."""
    for host in found:
        words = selection.specification(host, found)
        assert selection.named(words, found) is host
        assert selection.named(words.upper(), found) is host
        assert selection.named(host.label, found) is host
    assert len({h.label for h in found}) == len(found)


@pytest.mark.parametrize(
    ("found", "wanted", "chosen"),
    [
        (INTEL_CPU, EMBEDDED, 1),
        (INTEL_CPU, "intel(r) opencl", 1),
        (INTEL_CPU, XEON, 1),
        (INTEL_CPU, f"{XEON} ({EMBEDDED}", 1),
        (INTEL_CPU, "Portable", 0),
        (INTEL_CPU, "Portable/Xeon", 0),
        (INTEL_CPU, "OpenCL/Xeon", 1),
        (INTEL_CPU, "Intel/", 1),
        (INTEL_CPU, "Xeon#2", 1),
        (INTEL_CPU, "Xeon #1", 0),
        (INTEL_CPU, "#2", 1),
        (AMD_CPU, "Intel", 1),
        (AMD_CPU, "pthread", 0),
        (LAPTOP, EMBEDDED, 2),
        (LAPTOP, "Intel(R) OpenCL/", 2),
        (LAPTOP, "Graphics", 1),
        (GPUS, "NVIDIA#2", 1),
        (GPUS, "NVIDIA CUDA/NVIDIA H200#1", 0),
        (VULKAN, "llvmpipe", 0),
        (VULKAN, "radv/", 1),
    ],
)
def test_what_a_name_means(found: list[Host], wanted: str, chosen: int) -> None:
    assert selection.named(wanted, found) is found[chosen]
    assert selection.pick(wanted, found) is found[chosen]


@pytest.mark.parametrize(
    ("found", "wanted", "several"),
    [
        (INTEL_CPU, "Intel", [0, 1]),
        (INTEL_CPU, "Xeon", [0, 1]),
        (AMD_CPU, "EPYC", [0, 1]),
        (LAPTOP, "Intel(R)", [0, 1, 2]),
        (LAPTOP, "Intel/", [1, 2]),
        (GPUS, "H200", [0, 1]),
        (CUDA, "NVIDIA CUDA/NVIDIA H200", [0, 1]),
        (CUDA, "NVIDIA CUDA", [0, 1]),
    ],
)
def test_an_ambiguous_name_is_refused_with_unambiguous_ones(found: list[Host], wanted: str, several: list[int]) -> None:
    """For every target: a name means the same device in each command."""
    with pytest.raises(Usage) as refused:
        selection.pick(wanted, found, target.find("cpu"))
    (line,) = refused.value.lines
    assert line.startswith(f"device '{wanted}': names {len(several)} ")
    offered = shlex.split(line.partition("; give ")[2].replace(" or --device ", " --device "))
    assert offered[::2] == ["--device"] * len(several)
    assert [selection.named(words, found) for words in offered[1::2]] == [found[i] for i in several]


@pytest.mark.parametrize("wanted", ["Voodoo 2", "Xeon#3", "#3", "Xeon#0", "Portable/Voodoo", "/#9", "#"])
def test_no_such_device(wanted: str) -> None:
    with pytest.raises(Unavailable, match=f"^no OpenCL device like '{wanted}'; there is {POCL}/cpu-sapphire"):
        selection.pick(wanted, INTEL_CPU)


@pytest.mark.parametrize("wanted", ["", "  "])
def test_an_empty_name(wanted: str) -> None:
    """Such as of an unset variable of a script."""
    with pytest.raises(Usage, match="device '': is empty; give a part of a name, or leave out --device"):
        selection.pick(wanted, INTEL_CPU)


@pytest.mark.parametrize(
    ("found", "name", "chosen"),
    [
        (INTEL_CPU, None, 1),
        (INTEL_CPU, "cpu", 1),
        (INTEL_CPU, "generic", 1),
        (INTEL_CPU, "intel-gen8", 1),
        (AMD_CPU, None, 1),
        (NEW_POCL, None, 1),
        (NEW_POCL, "generic", 1),
        (NEW_POCL, "intel-gen8", 1),
        (LAPTOP, None, 1),
        (LAPTOP, "cpu", 2),
        (LAPTOP, "generic", 1),
        (LAPTOP, "intel-gen12", 1),
        (LAPTOP, "amd-gcn", 2),
        (GPUS, None, 0),
        (GPUS, "cpu", 2),
        (GPUS, "intel-gen8", 2),
        (CUDA, None, 0),
        (VULKAN, None, 1),
        (VULKAN, "lavapipe", 0),
        (VULKAN, "generic", 1),
    ],
)
def test_without_a_name(found: list[Host], name: str | None, chosen: int) -> None:
    """Devices of the target; otherwise the embedded runtime; in other lists GPUs first, and PoCL last."""
    wanted = target.find(name) if name else None
    assert selection.pick(None, found, wanted) is found[chosen]


def test_a_device_of_the_target_that_cannot_run_it_is_not_passed_over() -> None:
    """Another device that can run it does not replace the requested one."""
    found = target.find("intel-gen12")
    weak = [LAPTOP[0], replace(LAPTOP[1], shuffle=False), LAPTOP[2]]
    sorts = [found.default("u32")]
    with pytest.raises(Unavailable, match=r"^Intel\(R\) Iris\(R\) Xe Graphics .* has no subgroups of 16 lanes"):
        selection.pick(None, weak, found, sorts)
    assert selection.pick(None, weak, found, sorts, able=False) is weak[1]
    assert selection.pick(None, weak, target.find("amd-gcn"), sorts) is weak[2]


FIND = cache(target.find)  # each reading of all targets takes a second


class Ended(Exception):
    """Ends a command after the selection of its device."""


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[Host], str], Host]:
    """Run a command on a machine with other devices, up to its first use of the selected one."""

    def ended(*values: Any, **_: Any) -> None:
        raise Ended(next(found for x in values if isinstance(found := getattr(x, "host", x), Host)))

    for module, name in ((validate, "_validate"), (bench, "_bench"), (tune, "of_host"), (query, "properties")):
        monkeypatch.setattr(module, name, ended)
    monkeypatch.setattr(engines.Drive, "library", lambda *_: Path("library.so"))

    def run(found: list[Host], command: str) -> Host:
        monkeypatch.setattr(hosts, "hosts", lambda: found)
        monkeypatch.setattr(engines, "devices", lambda *_: found)
        monkeypatch.setattr(target, "find", FIND)
        with pytest.raises(Ended) as end:
            main(shlex.split(command))
        host = end.value.args[0]
        assert isinstance(host, Host)
        return host

    return run


@pytest.mark.parametrize(
    ("found", "options", "chosen"),
    [
        (INTEL_CPU, "-t cpu", 1),
        (INTEL_CPU, "-t intel-gen8", 1),
        (INTEL_CPU, "-t cpu --device 'Intel(R) OpenCL'", 1),
        (INTEL_CPU, "-t generic --device Portable", 0),
        (AMD_CPU, "-t cpu --device Intel", 1),
        (LAPTOP, "-t intel-gen12", 1),
        (LAPTOP, "-t generic", 1),
        (GPUS, "-t generic --device 'H200#2'", 1),
        (CUDA, "-t nvidia-hopper --api cuda", 0),
        (CUDA, "-t nvidia-hopper --api cuda --device 'H200#2'", 1),
        (VULKAN, "-t lavapipe --api vulkan", 0),
        (VULKAN, "-t generic --api vulkan", 1),
    ],
)
def test_commands_choose_the_same_device(
    found: list[Host], options: str, chosen: int, used: Callable[[list[Host], str], Host], tmp_path: Path
) -> None:
    for command in ("validate --key u32", "bench --key u32 --against=", f"tune --key u32 --journal {tmp_path}/j"):
        assert used(found, f"{command} {options}") is found[chosen], command


@pytest.mark.parametrize("found", MACHINES.values(), ids=MACHINES)
def test_commands_without_a_target_choose_the_same_device(
    found: list[Host], used: Callable[[list[Host], str], Host], capsys: pytest.CaptureFixture[str]
) -> None:
    """And report it: name, platform, driver and API."""
    api = f"--api {found[0].api}"
    chosen = used(found, f"validate {api} --key u32")
    line = f"device: {chosen.name} ({chosen.platform}, {chosen.driver})"
    line += (f" #{chosen.number}" if chosen.number > 1 else "") + f", API {chosen.api}\n"
    assert capsys.readouterr().err == line
    assert used(found, f"bench {api} --key u32 --against=") is used(found, f"probe {api} --raw") is chosen
    assert capsys.readouterr().err == line * 2
    used(found, f"probe {api} --raw --device {shlex.quote(selection.specification(chosen, found))}")
    used([chosen], f"probe {api} --raw")
    assert capsys.readouterr().err == line * 2


def test_probe_names_the_device_in_the_next_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They choose the probed device, also where its name is a part of others', or equal to another's."""
    file = tmp_path / "mine.toml"
    for found in (INTEL_CPU, GPUS):
        said = {**PROBED, "name": found[1].name, "platform": found[1].platform, "subgroups": [1], "shuffle": False}
        with monkeypatch.context() as patch:
            patch.setattr(query, "properties", lambda host, said=said: said)
            patch.setattr(hosts, "hosts", lambda found=found: found)
            device = selection.specification(found[1], found)
            assert main(["probe", "--api", "opencl", "--device", device, "-o", str(file), "--force"]) == 0
        lines = capsys.readouterr().out.splitlines()
        commands = [x.strip().removeprefix("hsgen ") for x in lines if x.startswith("  hsgen ")]
        assert [x.split()[0] for x in commands] == ["validate", "tune"]
        assert selection.named(shlex.split(commands[0])[-1], found) is found[1]
        options = shlex.split(commands[1])
        assert selection.named(options[options.index("--device") + 1], found) is found[1]


@pytest.mark.parametrize("command", ["validate -t cpu", "bench -t cpu", "tune -t cpu", "probe --api opencl --raw"])
def test_commands_refuse_a_name_of_several(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hosts, "hosts", lambda: INTEL_CPU)
    monkeypatch.chdir(tmp_path)
    assert main([*command.split(), "--device", "Intel"]) == 2
    each = f"--device '{POCL}/cpu-sapphirerapids-{XEON}' or --device '{EMBEDDED}/{XEON}'"
    assert capsys.readouterr().err == f"hsgen: device 'Intel': names 2 OpenCL devices; give {each}\n"
    assert list(tmp_path.iterdir()) == []


PROBED = {"type": "cpu", "vendor": INTEL, "work_group": 4096, "local_bytes": 65536, "int64": True}


def test_a_probed_file_is_for_the_probed_device_alone(tmp_path: Path) -> None:
    """The name of PoCL's device contains that of Intel's."""
    said = {**PROBED, "name": XEON, "platform": EMBEDDED, "subgroups": [16], "shuffle": True}
    found = target.parse(probing.written(Query(api="opencl", properties=said), "mine"), "mine", "mine.toml")
    assert found.match.platforms == (EMBEDDED,)
    assert [hosts.matches(found, h) for h in INTEL_CPU] == [False, True]
    assert [hosts.evidence_level(found, h) for h in INTEL_CPU] == ["cpu", "device"]
    assert selection.pick(None, INTEL_CPU, found) is INTEL_CPU[1]


def test_no_shipped_target_is_for_the_device_of_another_runtime() -> None:
    """PoCL's gets the generic one, which has no [match], on any processor."""
    every = [FIND(name) for name in target.names()]
    for host in (INTEL_CPU[0], AMD_CPU[0], NEW_POCL[0], LAPTOP[0]):
        assert [t.name for t in every if hosts.matches(t, host)] == []
        assert hosts.target_for(host, every).name == "generic"
    assert hosts.target_for(INTEL_CPU[1], every).name == hosts.target_for(AMD_CPU[1], every).name == "cpu"


@pytest.mark.parametrize(
    ("host", "name", "level"),
    [
        (INTEL_CPU[1], "cpu", "device"),
        (INTEL_CPU[0], "cpu", "cpu"),
        (INTEL_CPU[1], "intel-gen8", "cpu"),
        (LAPTOP[1], "intel-gen12", "device"),
        (LAPTOP[1], "amd-gcn", None),
        (GPUS[0], "amd-gcn", None),
        (GPUS[0], "generic", "device"),
        (INTEL_CPU[1], "generic", "cpu"),
    ],
)
def test_what_a_run_is_evidence_of(
    host: Host,
    name: str,
    level: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`tune --write` and `validate --record` write nothing for a GPU that the target does not match."""
    found = target.find(name)
    assert hosts.evidence_level(found, host) == level
    text = (resources.targets() / f"{name}.toml").read_text(encoding="utf-8")
    assert of_host(found, text, name, "opencl", host, native=False).level == (level or "")
    if level is None:
        able = replace(host, shuffle=True, ballot=True, widths=(64,))
        monkeypatch.setattr(hosts, "hosts", lambda: [able])
        monkeypatch.chdir(tmp_path)
        for command in ("tune --write", "validate --record"):
            assert main([*command.split(), "-t", name, "--key", "u32", "--device", host.name]) == 2
            assert f"{host.label}: is no device of target {name}; " in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []


def test_another_process_finds_the_very_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its label: a race, a trial build, a Dask worker.  The C runtime of a worker may number devices differently."""
    monkeypatch.setattr(hosts, "hosts", lambda: GPUS)
    assert [hosts.labelled(h.label) for h in GPUS] == GPUS
    with pytest.raises(Unavailable, match=r"^NVIDIA H200 \(NVIDIA CUDA, 1\) #3: OpenCL shows no such device here; "):
        hosts.labelled("NVIDIA H200 (NVIDIA CUDA, 1) #3")
    generic, text = target.find("generic"), (resources.targets() / "generic.toml").read_text(encoding="utf-8")
    field = of_host(generic, text, "generic", "cuda", CUDA[1], native=True)
    there = [replace(CUDA[0], name="NVIDIA A100", handle=0), *(replace(h, handle=h.handle + 1) for h in CUDA)]
    monkeypatch.setattr(spread, "_hosts", lambda api, native: there)
    assert (field.index, spread._there(field).index) == (1, 2)
    assert field.device in spread._about(field)[1]
    with pytest.raises(Unavailable, match="has no H100"):
        spread._there(replace(field, device="H100"))
