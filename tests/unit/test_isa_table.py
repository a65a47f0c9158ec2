"""The table [isa] of target files, and the budget files."""

from __future__ import annotations

import pytest
from offline import TEXT, small

from hsgen.apis import APIS
from hsgen.core.errors import Usage
from hsgen.system import resources
from hsgen.targets import schema, target
from hsgen.targets.isa import KINDS, SPIRV
from hsgen.tools.compile import budget
from hsgen.tools.compile.compilers import COMPILERS

LINE = 'cuda = ["sm_80", "sm_90"]'


def test_the_table_is_read() -> None:
    found = small(TEXT.replace(LINE, 'ocloc = ["skl"]\ncuda = ["sm_90", "sm_80"]'))
    assert list(found.isa.items()) == [("cuda", ("sm_90", "sm_80")), ("ocloc", ("skl",))]
    assert small(TEXT.replace(f"[isa]\n{LINE}\n", "")).isa == {}


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('cuda = ["sm_81"]', 'isa.cuda: "sm_81" is unknown; did you mean sm_8'),
        ('cuda = ["banana"]', 'isa.cuda: "banana" is unknown; known are sm_30, sm_32, '),
        ('cuda = ["sm_80", "sm_80"]', 'isa.cuda: "sm_80" is named twice; name it once'),
        ("cuda = []", 'isa.cuda: is empty; give devices that cuda compiles for, for example ["sm_121"]'),
        ('cuda = "sm_80"', 'isa.cuda: "sm_80" is not a list of strings'),
        ('cudda = ["sm_80"]', "isa.cudda: unknown key; did you mean cuda?"),
        ('spirv = ["vulkan1.1"]', "isa.spirv: unknown key; known are cuda, ocloc, amdgcn, hip, radv"),
        (
            'radv = ["navi10"]',
            "isa.radv: compiles vulkan kernels, which the target has not; leave it out or add the API",
        ),
    ],
)
def test_each_mistake_is_named(line: str, error: str) -> None:
    with pytest.raises(Usage) as e:
        small(TEXT.replace(LINE, line))
    assert len(e.value.lines) == 1 and e.value.lines[0].startswith(f"small.toml: {error}")


def test_all_mistakes_come_at_once() -> None:
    with pytest.raises(Usage) as e:
        small(TEXT.replace(LINE, 'cuda = ["sm_1"]\nocloc = ["skill"]').replace("height = 8", "height = 7"))
    assert [line.split(": ")[1] for line in e.value.lines] == ["isa.cuda", "isa.ocloc", "bitonic.u32.height"]


def test_there_is_a_compiler_of_each_kind_and_for_each_device() -> None:
    assert set(COMPILERS) == {*KINDS, SPIRV}
    for name, kind in KINDS.items():
        made = COMPILERS[name]
        assert made.api == kind.api and made.api in APIS and made.name == name and made.install
        assert set(made.devices()) == set(kind.devices), name
    assert set(COMPILERS[SPIRV].devices()) == {f"vulkan{v}" for v in schema.VULKANS}


def test_devices_that_no_compiler_knows_have_no_identity() -> None:
    for name, made in COMPILERS.items():
        if name != SPIRV:
            assert made.identity("sm_13" if name == "cuda" else "banana") is None, name


def test_budgets_are_those_of_the_targets() -> None:
    """Exactly the devices of a target's table are in its budget; the files equal what hsgen would write."""
    with_isa = {name for name in target.names() if target.find(name).isa}
    files = {p.stem: p for p in (resources.targets() / "budgets").glob("*.toml")}
    assert not files or set(files) == with_isa
    for name, path in files.items():
        found = budget.read(path)
        named = {(c, d) for c, devices in target.find(name).isa.items() for d in devices}
        assert (found.target, set(found.columns)) == (name, named)
        assert budget.text(found) == path.read_text(encoding="utf-8")


def test_a_budget_is_no_target() -> None:
    assert all((resources.targets() / f"{name}.toml").is_file() for name in target.names())
    assert "budgets" not in target.names()
