"""Target files: parsed values, and errors for every mistake, all at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hsgen.core.errors import Usage
from hsgen.core.fields import LINES
from hsgen.system import resources
from hsgen.targets import target

GOOD = (resources.targets() / "intel-gen8.toml").read_text()


def lines(text: str) -> tuple[str, ...]:
    with pytest.raises(Usage) as caught:
        target.parse(text, "intel-gen8", "targets/intel-gen8.toml")
    return caught.value.lines


def test_shipped_targets_are_right() -> None:
    for name in target.names():
        found = target.find(name)
        assert found.name == name and found.choices


def test_hotsort_shapes_of_gen8() -> None:
    found = target.find("intel-gen8")
    u32, u64 = found.choices["bitonic", "u32"], found.choices["bitonic", "u64"]
    assert (u32.subgroup, u32.height, u32.slabs) == (16, 8, 16)
    assert (u64.subgroup, u64.height, u64.slabs) == (8, 16, 16)


def test_generic_uses_no_subgroup_operation() -> None:
    for key in ("u32", "u64"):
        assert all(k.subgroup == 1 for k in target.find("generic").sort("bitonic", key).kernels)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("height = 8", "height = 7"), "bitonic.u32.height: 7 is odd; give an even number, 6 or 8"),
        (("slabs = 16", "slabs = 0"), "bitonic.u32.slabs: 0 is not between 1 and 8192"),
        (("height = 8", "heigth = 8"), "bitonic.u32.heigth: unknown key; did you mean height?"),
        (
            ("subgroup = 16", "subgroup = 4"),
            "bitonic.u32.subgroup: this device has no subgroups of 4; give 1 or one of 8",
        ),
        (
            ("slabs = 16", "slabs = 17"),
            "bitonic.u32.slabs: 272 lanes exceed the work-group limit of 256; give at most 16",
        ),
        (
            ("local_bytes = 65536", "local_bytes = 4096"),
            "block_sort_16 needs 8256 bytes of local memory, the device has 4096; give at most 7",
        ),
        (("clean_slabs = 16", "clean_slabs = 12"), "bitonic.u32.clean_slabs: 12 is not a power of two"),
        (("stream_group = 256", "stream_group = 100"), "bitonic.u32.stream_group: 100 is not a power of two"),
        (("local_scale = 3", "local_scale = 9"), "bitonic.u32.local_scale: 9 is not between 1 and 6"),
        (("[device]", "[devices]"), "devices: unknown key; did you mean device?"),
        (("shuffle = true", 'shuffle = "yes"'), 'device.shuffle: "yes" is not true or false'),
        (("int64 = true", "int64 = false"), "apis: opencl sorts no 64-bit keys on a device without"),
        (("shuffle = true", "shuffle = false"), "this device has no shuffle; give 1"),
        (("schema = 3", "schema = 4"), "schema: 4 is not read, this hsgen reads 3; use a newer hsgen"),
        (('name = "intel-gen8"', 'name = "gen8"'), 'name: "gen8" is not the file\'s name; write "intel-gen8"'),
        (("[bitonic.u32]", "[bitonic.u31]"), "bitonic.u31: unknown key; did you mean u32?"),
        (('exchange = "select"', 'exchange = "max"'), 'bitonic.u64.exchange: "max" is not one of minmax, select'),
        (("schema = 3", "schema = = 3"), "the file must be TOML"),
        (
            ('["opencl", "vulkan"]', '["opengl"]'),
            'apis: "opengl" is not one of opencl, vulkan, cuda',
        ),
        (('apis = ["opencl", "vulkan"]', "apis = []"), "apis: is empty; give at least one API"),
        (
            ("vendors = [0x8086]", 'names = [""]'),
            "match: '' cannot be looked for; give 1 to 200 printable ASCII characters",
        ),
        (("vendors = [0x8086]", "compute = [90, 35]"), "match.compute: [90, 35] is no range; give two numbers"),
        (("groups = 4294967295\n", ""), "device.groups: missing; give the greatest grid"),
    ],
)
def test_each_mistake_is_named(change: tuple[str, str], expected: str) -> None:
    assert change[0] in GOOD
    found = lines(GOOD.replace(*change, 1))
    assert any(expected in line for line in found), found
    assert all(line.startswith("targets/intel-gen8.toml: ") for line in found)


def test_all_mistakes_of_a_file_are_named_at_once() -> None:
    text = GOOD.replace("height = 8", "height = 7").replace("shuffle = true", "shufle = true")
    text = re.sub(r"half_scale = 4", "half_scale = 40", text)
    found = "\n".join(lines(text))
    for key in (
        "device.shufle: unknown key; did you mean shuffle?",
        "bitonic.u32.half_scale",
        "bitonic.u64.half_scale",
    ):
        assert key in found
    assert "missing" not in found  # a misspelt name is one mistake


def test_a_bad_value_hides_no_other_mistake_of_its_table() -> None:
    text = GOOD.replace("height = 8", "height = 7").replace("subgroup = 16", "subgroup = 4")
    found = "\n".join(lines(text.replace("slabs = 16\n", "slabs = 0\n", 1).replace("flip_scale", "flp_scale", 1)))
    for part in (
        "height: 7 is odd",
        "no subgroups of 4",
        "slabs: 0 is not",
        "flp_scale: unknown",
    ):
        assert f"bitonic.u32.{part}" in found or part in found


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("[device]", "[devic]", "devic: unknown key; did you mean device?"),
        ("local_bytes = ", "local_bytes = 'x' #", 'device.local_bytes: "x" is not a whole number; '),
        ("apis = ", "apis = 1 #", "apis: 1 is not a list of strings; "),
        ("[bitonic.u32]", "[bitonic.u33]", "bitonic.u33: unknown key; did you mean u32?"),
    ],
)
def test_one_mistake_gives_one_line(old: str, new: str, line: str) -> None:
    assert old in GOOD
    found = lines(GOOD.replace(old, new, 1))
    assert len(found) == 1 and line in found[0]


def test_a_file_of_mistakes_is_cut() -> None:
    found = lines(GOOD + "".join(f"\n[nonsense{i}]" for i in range(500)))
    assert len(found) == LINES and found[-1].endswith(f": and {500 - LINES + 1} more; fix these first")


def test_values_are_shown_short_and_on_one_line() -> None:
    found = lines(GOOD.replace("progress = ", 'progress = "\\u001b[2J\\nhsgen: ' + "x" * 5000 + '" #'))
    assert len(found) == 1 and len(found[0]) < 600
    assert "\\x1b[2J\\nhsgen: xxx" in found[0] and found[0].isprintable()


@pytest.mark.parametrize("name", ["..", "a b", "x\ny", ".hidden", ""])
def test_names_must_be_good_for_files(name: str) -> None:
    with pytest.raises(Usage, match="cannot name files"):
        target.parse(GOOD.replace('"intel-gen8"', '"' + name.replace("\n", "\\n") + '"'), name, "x.toml")


def test_a_file_must_not_take_the_name_of_a_shipped_target(tmp_path: Path) -> None:
    (tmp_path / "cpu.toml").write_text((resources.targets() / "cpu.toml").read_text())
    with pytest.raises(Usage, match="cpu comes with hsgen; give your target and its file another name"):
        target.find(str(tmp_path / "cpu.toml"))


def test_every_kernel_that_needs_too_much_local_memory_is_named_with_a_value_that_fits() -> None:
    text = re.sub(r"(?ms)^(# [^\n]*\n)*\[radix\..*?(?=^\[\[evidence)", "", GOOD).replace(
        "local_bytes = 65536", "local_bytes = 2000"
    )
    found = "\n".join(lines(text))
    for key in ("u32", "u64"):
        for field in ("slabs", "clean_slabs"):
            assert f"bitonic.{key}.{field}: " in found
    for key in ("u32", "u64"):
        for field in ("clean_slabs", "slabs"):
            value = re.search(rf"bitonic.{key}.{field}: .* give at most (\d+)", found)
            assert value is not None
            head, tail = text.split(f"[bitonic.{key}]")
            text = (
                head
                + f"[bitonic.{key}]"
                + re.sub(rf"^{field} = 16", f"{field} = {value[1]}", tail, count=1, flags=re.M)
            )
    text = text.replace("stream_group = 256", "stream_group = 16")
    assert _problems(text) == []


def _problems(text: str) -> list[str]:
    try:
        target.parse(text, "intel-gen8", "x")
    except Usage as e:
        return list(e.lines)
    return []


def test_unknown_names_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="target gen9: unknown; known are adreno-6xx, amd-cdna, amd-cdna4"):
        target.find("gen9")
    with pytest.raises(Usage, match=r"intel-gen9: unknown; did you mean intel-gen8\? known are adreno-6xx, amd-cdna"):
        target.find("intel-gen9")
    with pytest.raises(Usage, match="cannot be read"):
        target.find(str(tmp_path / "none.toml"))
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(Usage, match="not UTF-8"):
        target.find(str(tmp_path / "bad.toml"))
