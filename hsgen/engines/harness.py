"""An engine that drives a device through the C runtime of a bundle, a folder with generated kernels and C files.

Python calls the runtime through a *harness*, a shared library with the functions of ``native/harness.h``.  Only a
worker process loads the library, because drivers can crash.
"""

from __future__ import annotations

import copy
import ctypes
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from hsgen.apis import APIS
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.interpreter import NUMBERS, PLAIN, Options
from hsgen.core.plan import ROLES, Plan
from hsgen.core.sort import Sort
from hsgen.engines.engine import Places
from hsgen.engines.hosts import Host, numbered

_ABSENT = "unavailable: "


class Call(ctypes.Structure):
    """The struct ``hn_call`` of ``native/harness.h``: the arguments by which the harness calls a sort."""

    _fields_ = (
        ("n", ctypes.c_uint64),
        *((name, ctypes.c_uint64) for name in NUMBERS),
        ("offsets", ctypes.c_uint64 * len(ROLES)),
        ("slots", ctypes.c_int32 * len(ROLES)),
        *((name, ctypes.c_uint32) for name in ("type", "descending", "begin_bit", "end_bit", "discard_keys")),
    )


def call(plan: Plan, n: int, places: Places, options: Options) -> Call:
    """Return the struct of a call for the harness.

    In C, an end of 0 means the last bit, so the struct cannot express the empty bit range from 0 to 0.  It then has the
    equivalent empty range from 1 to 1.
    """
    out = Call(n=n, descending=options.descending, discard_keys=options.discard)
    for name in NUMBERS:
        setattr(out, name, getattr(options, name))
    out.type = plan.bits // 8 << 4 | options.kind if options.kind else 0
    out.begin_bit, out.end_bit = (
        (1, 1) if options.end == 0 and options.begin == 0 else (options.begin, options.end or 0)
    )
    for number, role in enumerate(ROLES):
        out.slots[number], out.offsets[number] = places.get(role, (-1, 0))
    return out


class Harness:
    """A shared library with the functions of ``native/harness.h``."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the library.

        Raises:
            Wrong: the function reports an error.
            Unavailable: the function reports that this machine lacks something.
        """
        function = getattr(self._library, name)
        function.restype = ctypes.c_char_p
        if message := function(*arguments):
            text = " ".join(message.decode(errors="replace").split())[:500]
            raise Unavailable(text.removeprefix(_ABSENT)) if text.startswith(_ABSENT) else Wrong(text)

    def has(self, name: str) -> bool:
        """Return True if the library has the function `name`."""
        return hasattr(self._library, name)

    def text(self, name: str) -> str:
        """Call the function `name`, which has no arguments, and return its result, a string."""
        function = getattr(self._library, name)
        function.restype = ctypes.c_char_p
        return (function() or b"").decode(errors="replace")

    def close(self) -> None:
        """Release all resources of the library, such as the open device."""
        function = self._library.hn_close
        function.restype = None
        function()

    def hosts(self, api: str) -> list[Host]:
        """Return the devices that the API lists."""
        count = ctypes.c_int()
        self.call("hn_count", ctypes.byref(count))
        out = []
        for index in range(count.value):
            text = ctypes.create_string_buffer(4096)
            self.call("hn_describe", ctypes.c_int(index), text, ctypes.c_size_t(len(text)))
            facts = json.loads(text.value.decode(errors="replace"))
            widths = tuple(facts.pop("subgroups"))
            known = {f.name for f in fields(Host)}
            more = {name: facts.pop(name) for name in list(facts) if name not in known}
            out.append(Host(api=api, version="", handle=index, widths=widths, more=more, **facts))
        return numbered(out)


class Native:
    """An `Engine` that runs through the C runtime of a bundle."""

    def __init__(self, harness: Harness, api: str, sort: Sort, index: int, options: str) -> None:
        self._harness = harness
        self.api, self.sort, self.index = api, sort, index
        self.align = APIS[api].alignment or sort.key.bytes
        harness.call("hn_open", ctypes.c_int(index), options.encode())
        self._last: tuple[int, Places, Options] | None = None
        self._call = Call()
        self.renew()

    def sibling(self, sort: Sort) -> Native:
        """See `Engine`."""
        engine = copy.copy(self)
        engine.sort = sort
        engine.renew()
        return engine

    def renew(self) -> None:
        """See `Engine`."""
        names = (self.sort.target, self.sort.algorithm, self.sort.label, self.sort.signature.value)
        self._harness.call("hn_sorter", *(x.encode() for x in names))

    def allocate(self, slot: int, size: int) -> None:
        """See `Engine`."""
        self._harness.call("hn_buffer", ctypes.c_int(slot), ctypes.c_uint64(max(size, 1)))

    def write(self, slot: int, image: Any) -> None:
        """See `Engine`."""
        self._move("hn_write", slot, image)

    def read(self, slot: int, image: Any) -> None:
        """See `Engine`."""
        self._move("hn_read", slot, image)

    def _move(self, name: str, slot: int, image: Any) -> None:
        place = image.ctypes.data_as(ctypes.c_void_p)
        self._harness.call(name, ctypes.c_int(slot), ctypes.c_uint64(0), place, ctypes.c_uint64(image.nbytes))

    def run(self, n: int, places: Places, options: Options = PLAIN) -> float | None:
        """See `Engine`."""
        if self._last != (n, places, options):  # the struct is kept, because creating it takes as long as a small sort
            self._last, self._call = (n, dict(places), options), call(self.sort.plan, n, places, options)
        return self._timed("hn_sort", ctypes.byref(self._call))

    def device_status(self) -> int:
        """See `Engine`."""
        redone = ctypes.c_uint32()
        self._harness.call("hn_redone", ctypes.byref(redone))
        return redone.value

    def clock(self, on: bool) -> None:
        """See `Engine`."""
        self._harness.call("hn_clock", ctypes.c_int(on))

    def memory(self) -> tuple[int, int]:
        """See `Engine`."""
        total, largest = ctypes.c_uint64(), ctypes.c_uint64()
        self._harness.call("hn_room", ctypes.byref(total), ctypes.byref(largest))
        return total.value, largest.value

    def copy(self, size: int) -> float | None:
        """See `Engine`."""
        return self._timed("hn_copy", ctypes.c_uint64(size))

    def baseline(self, name: str, size: int, n: int, value_size: int = 0, number: int = 0) -> float | None:
        """See `Engine`."""
        function = f"hn_baseline_{self.sort.operation}"
        if not self._harness.has(function):
            raise Unavailable(f"baseline {name}: requires CUDA; add --api cuda")
        sizes = (ctypes.c_int(size), ctypes.c_int(value_size))
        return self._timed(function, name.encode(), *sizes, ctypes.c_uint64(n), ctypes.c_uint64(number))

    def _timed(self, name: str, *arguments: Any) -> float | None:
        """Call a function that waits for the device, and return the seconds that it reports; None if it reports -1."""
        seconds = ctypes.c_double()
        self._harness.call(name, *arguments, ctypes.byref(seconds))
        return None if seconds.value < 0 else seconds.value

    def messages(self) -> str:
        """See `Engine`."""
        return self._harness.text("hn_messages")

    def close(self) -> None:
        """Release all resources."""
        self._harness.close()
