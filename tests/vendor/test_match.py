"""The target that a C program selects for a device."""

from __future__ import annotations

from functools import cache

import pytest
from building import CONSUMERS, WARNINGS, bundle, need, objects, opencl, program, run

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
