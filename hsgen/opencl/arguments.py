"""The context argument of the classes for pyopencl."""

from __future__ import annotations

from typing import Any

from hsgen.core.errors import Unavailable, wrong_type
from hsgen.engines import hosts
from hsgen.system import toolchain


def host_of(context: Any) -> hosts.Host:
    """Return the first device of a context.

    Raises:
        TypeError: the argument is not a context of pyopencl.
        Unavailable: the device is a part of another device.
    """
    if not isinstance(context, toolchain.pyopencl().Context):
        raise wrong_type("context", "a pyopencl.Context", context)
    host = next((h for h in hosts.hosts() if h.handle == context.devices[0]), None)
    if host is None:
        raise Unavailable(
            f"{context.devices[0].name.strip()}: is a part of a device; give a context of the whole device"
        )
    return host
