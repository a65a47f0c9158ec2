"""The target that a C program selects for a device."""

from __future__ import annotations

from functools import cache

import pytest
from building import CONSUMERS, SMALL, WARNINGS, bundle, need, objects, opencl, program, run, sources

from hsgen.engines.hosts import Host


@cache
def picked(*targets: str) -> dict[str, set[str]]:
    """The selection for every device by its platform, for any order of the targets."""
    need("gcc")
    opencl()
    place = bundle(*targets)
    files = objects(place, "gcc").values()
    path = program("match", "gcc", *WARNINGS, f"-I{place / 'include'}", CONSUMERS / "match.c", *files, "-lOpenCL")
    found: dict[str, set[str]] = {}
    for line in run(path).splitlines():
        platform, _, first, second, unknown = line.split("|")
        assert unknown == "none"
        found.setdefault(platform.strip(), set()).update((first, second))
    return found


@pytest.mark.device
def test_the_embedded_device_gets_its_own_target(embedded: Host) -> None:
    assert picked("cpu", "intel-gen8", "generic")[embedded.platform] == {"cpu"}


@pytest.mark.device
def test_others_get_the_generic_target(pocl: Host) -> None:
    assert picked("cpu", "intel-gen8", "generic")[pocl.platform] == {"generic"}


@pytest.mark.device
def test_a_target_for_other_devices_is_not_picked(embedded: Host) -> None:
    assert picked("intel-gen8")[embedded.platform] == {"none"}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_match_that_finds_nothing_is_explained(compiler: str) -> None:
    need(compiler)
    opencl()
    place = bundle(SMALL)
    include = [f"-I{place / 'include'}", f"-I{CONSUMERS}"]
    files = [CONSUMERS / "explain.c", CONSUMERS / "fake_opencl.c", *sources(place)]
    assert run(program("explain", compiler, "-std=c99", *WARNINGS, *include, *files)).splitlines() == [
        'named: is for devices of other names: "No such GPU"',
        "small: is for devices of another type",
        "small: has no such operation on f16 keys with v8 (hsgen generate --key, --value, --algorithm)",
        "small: its kernels need more than the device has, or are not for this API",
        "named: is f",
    ]
