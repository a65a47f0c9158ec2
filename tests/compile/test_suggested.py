"""Suggested shapes of recorded GPUs, compiled for these GPUs: nothing spills."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import missing
from nightly import NIGHTLY

from hsgen.cli import main
from hsgen.tools.suggest import probing, query

QUERIES = Path(__file__).parents[1] / "unit" / "queries"
KNOWN = {
    "amd-rx570": ("vulkan", "radv", "polaris10"),
    "amd-navi21": ("vulkan", "radv", "navi21"),
    "nvidia-rtx2070": ("cuda", "cuda", "sm_75"),
    "intel-uhd-opencl": ("opencl", "ocloc", "skl"),
}
"""A record, the API to compile it for, the compiler, and the compiler's name for the GPU."""


@pytest.mark.parametrize("name", list(KNOWN) if NIGHTLY else ["amd-rx570"])
def test_suggested_shapes_do_not_spill(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    api, compiler, device = KNOWN[name]
    recorded = query.read(QUERIES / f"{name}.json")
    text = probing.written(query.Query(api=api, properties=recorded.properties), "mine")
    isa = f'\n[isa]\n{compiler} = ["{device}"]\n'
    (tmp_path / "mine.toml").write_text(text + isa, encoding="utf-8")
    some = [] if NIGHTLY else ["--algorithm", "bitonic", "--key", "u64"]
    code = main(["compile", "-t", str(tmp_path / "mine.toml"), "--compiler", compiler, *some])
    out, err = capsys.readouterr()
    if code == 3:
        missing(err.splitlines()[-1])
    assert code == 0, out + err
    assert device in out
