"""Makes command queues of OpenCL devices and keeps their contexts."""

from __future__ import annotations

from functools import cache
from typing import Any

from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.system import toolchain

cl = toolchain.pyopencl()
CONTEXTS: dict[Host, Any] = {}


@cache
def queue_of(host: Host) -> Any:
    """A queue, whose context is kept."""
    return cl.CommandQueue(CONTEXTS.setdefault(host, context_for(host)))
