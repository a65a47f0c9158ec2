"""Messages of the commands about an API that hsgen does not drive."""

from __future__ import annotations

import pytest

from hsgen.cli import main

UNDRIVEN = "hsgen drives no Metal devices"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("validate --api metal", 2, f"{UNDRIVEN}, so none can be matched; name a target with --target"),
        ("validate -t cpu --api metal", 2, "target cpu: has no kernels for metal; it has opencl"),
        ("validate -t apple-m1 --api metal --runtime c", 2, "takes no --runtime, --option or --bundle"),
        ("validate -t apple-m1 --api metal --option poison=1", 2, "takes no --runtime, --option or --bundle"),
        ("validate -t apple-m1 --api metal --bundle generated", 2, "takes no --runtime, --option or --bundle"),
        ("validate -t apple-m1 --api metal --device nowhere", 3, "no OpenCL device"),
        ("bench -t apple-m1 --api metal", 3, UNDRIVEN),
        ("bench -t apple-m1 --api metal --require", 1, UNDRIVEN),
        ("tune -t apple-m1 --api metal", 3, f"{UNDRIVEN}; `hsgen validate --api metal` runs kernels as C++ for OpenCL"),
    ],
)
def test_one_line_says_it(command: str, code: int, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == code
    out, err = capfd.readouterr()
    assert out == "" and said in err and len(err.splitlines()) == 1, err
