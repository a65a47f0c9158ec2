"""The process that compiles for one AMD GPU, without the GPU, through Mesa's Vulkan driver RADV; see `radv`.

An environment variable names a GPU family, and RADV creates a device of this family that can only compile.  stdin is a
list of modules as JSON.  stdout has one line of JSON about the driver, then one line with the statistics of each
module.  This file needs no Python binding of Vulkan: it packs Vulkan's structures itself, by their layout in C (Vulkan
1.3, vulkan_core.h).
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

CAPTURE, FULL = 0x40, 2  # pipeline flag: capture statistics; shader stage flag: require full subgroups
_FEATURES = {  # structure: (its type, number of features, indices of features to enable); without robust access
    "2": (1000059000, 55, (40, 41)),  # 64-bit and 16-bit integers
    "1.1": (49, 12, (0, 1)),  # 16-bit storage
    "1.2": (51, 47, (2, 3, 8, 38, 41, 42)),  # 8-bit storage, 8-bit integers, addresses, the memory model
    "1.3": (53, 15, (7, 8, 14)),  # required subgroup sizes, full subgroups, maintenance 4
    "executable": (1000269000, 1, (0,)),
}


class Failed(Exception):
    """A call of Vulkan failed."""


class Vulkan:
    """Calls functions of the Vulkan loader.  Arguments are addresses of structures, numbers or handles."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libvulkan.so.1")
        self.alive: list[Any] = []

    def record(self, layout: str, *values: Any) -> int:
        """Build a structure, keep it alive, and return its address; `layout` is a format of `struct.pack`."""
        self.alive.append(ctypes.create_string_buffer(struct.pack(f"@{layout}0P", *values)))
        return ctypes.addressof(self.alive[-1])

    def space(self, layout: str, *values: Any, count: int = 1) -> ctypes.Array[ctypes.c_char]:
        """Return `count` structures for Vulkan to fill; each starts with `values`, and the rest is zero."""
        size = struct.calcsize(f"@{layout}0P")
        one = struct.pack("@iP", *values).ljust(size, b"\0") if values else bytes(size)
        self.alive.append(ctypes.create_string_buffer(one * count, size * count))
        buffer: ctypes.Array[ctypes.c_char] = self.alive[-1]
        return buffer

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that may fail.

        Raises:
            Failed: the function returns an error.
        """
        wrapped = [ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments]
        if result := getattr(self.library, name)(*wrapped):
            raise Failed(f"{name} returns {result}")

    def create(self, name: str, *arguments: Any) -> int:
        """Call a function that creates an object; return the handle that it stores through its last parameter."""
        handle = ctypes.c_uint64()
        self.call(name, *arguments, ctypes.byref(handle))
        return handle.value


class Device:
    """The first device that Vulkan lists, opened with the features that hsgen's kernels need."""

    def __init__(self) -> None:
        self.vulkan = v = Vulkan()
        application = v.record("iPPIPII", 0, 0, 0, 0, 0, 0, (1 << 22) + (3 << 12))
        instance = v.create("vkCreateInstance", v.record("iPIPIPIP", 1, 0, 0, application, 0, 0, 0, 0), 0)
        one, physical = ctypes.c_uint32(1), ctypes.c_uint64()
        v.library.vkEnumeratePhysicalDevices(ctypes.c_uint64(instance), ctypes.byref(one), ctypes.byref(physical))
        if not physical.value:
            raise Failed("vkEnumeratePhysicalDevices finds no device")
        self.name, self.driver = self._described(physical.value)
        chain = 0
        for kind, count, enabled in _FEATURES.values():
            chain = v.record(f"iP{count}I", kind, chain, *(int(i in enabled) for i in range(count)))
        extension = v.record("P", v.record("40s", b"VK_KHR_pipeline_executable_properties"))
        queue = v.record("iPIIIP", 2, 0, 0, 0, 1, v.record("f", 1.0))
        info = v.record("iPIIPIPIPP", 3, chain, 0, 1, queue, 0, 0, 1, extension, 0)
        self.handle = v.create("vkCreateDevice", physical.value, info, 0)

    def _described(self, physical: int) -> tuple[str, str]:
        """Return the name of the device, and the name and version of its driver."""
        v = self.vulkan
        driver = v.space("iPi256s256s4s", 1000196000, 0)
        properties = v.space("iP5I256s1024s", 1000059001, ctypes.addressof(driver))
        v.library.vkGetPhysicalDeviceProperties2(ctypes.c_uint64(physical), properties)
        _, _, _, name, version, _ = struct.unpack("@iPi256s256s4s", driver.raw[: struct.calcsize("@iPi256s256s4s")])
        device = struct.unpack("@iP5I256s", properties.raw[: struct.calcsize("@iP5I256s")])[-1]
        return text(device), f"{text(name)} {text(version)}"

    def pipeline(self, module: dict[str, Any]) -> int:
        """Compile a module, in the form that `main` documents; return the pipeline."""
        v, code, count = self.vulkan, Path(module["path"]).read_bytes(), module["bindings"]
        bindings = v.record("IIIIP" * count, *(x for i in range(count) for x in (i, 7, 1, 0x20, 0)))
        layout = v.create("vkCreateDescriptorSetLayout", self.handle, v.record("iPIIP", 32, 0, 0, count, bindings), 0)
        sets, push = v.record("Q", layout), v.record("III", 0x20, 0, module["push"])
        place = v.record("iPIIPIP", 30, 0, 0, 1, sets, 1, push)
        pipeline_layout = v.create("vkCreatePipelineLayout", self.handle, place, 0)
        words = v.record(f"{len(code)}s", code)
        shader = v.create("vkCreateShaderModule", self.handle, v.record("iPIQP", 16, 0, 0, len(code), words), 0)
        lanes = module["subgroup"]
        width = v.record("iPI", 1000225001, 0, lanes) if lanes > 1 else 0
        stage = (18, width, FULL if lanes > 1 else 0, 0x20, shader, v.record("5s", b"main"), 0)
        info = v.record("iPI4xiPIIQPPQQi", 29, 0, CAPTURE, *stage, pipeline_layout, 0, -1)
        return v.create("vkCreateComputePipelines", self.handle, 0, 1, info, 0)

    def statistics(self, pipeline: int) -> dict[str, int]:
        """Return the driver's statistics of a compute pipeline by name, and its subgroup size as "Subgroup size"."""
        v, count = self.vulkan, ctypes.c_uint32()
        row_layout = "iPI256s256sI"
        properties = v.space(row_layout, 1000269002, 0)
        one = ctypes.c_uint32(1)
        pipeline_info = v.record("iPQ", 1000269001, 0, pipeline)
        v.call(
            self._extra("vkGetPipelineExecutablePropertiesKHR"),
            self.handle,
            pipeline_info,
            ctypes.byref(one),
            properties,
        )
        out = {
            "Subgroup size": struct.unpack(f"@{row_layout}", properties.raw[: struct.calcsize(f"@{row_layout}")])[-1]
        }
        name = self._extra("vkGetPipelineExecutableStatisticsKHR")
        which = v.record("iPQI", 1000269003, 0, pipeline, 0)
        v.call(name, self.handle, which, ctypes.byref(count), None)
        row = "iP256s256siQ"
        rows = v.space(row, 1000269004, 0, count=count.value)
        v.call(name, self.handle, which, ctypes.byref(count), rows)
        for _, _, title, _, _, value in struct.iter_unpack(f"@{row}", rows.raw[: count.value * struct.calcsize(row)]):
            out[text(title)] = value
        return out

    def _extra(self, name: str) -> str:
        """Load a function of an extension, so that `Vulkan.call` can call it by its name; return the name."""
        get = self.vulkan.library.vkGetDeviceProcAddr
        get.restype = ctypes.c_void_p
        address = get(ctypes.c_uint64(self.handle), name.encode())
        if not address:
            raise Failed(f"{name} is missing")
        setattr(self.vulkan.library, name, ctypes.CFUNCTYPE(ctypes.c_int)(address))
        return name


def text(field: bytes) -> str:
    """Return the text in a C array of characters, up to its first zero byte."""
    return field.split(b"\0", 1)[0].decode(errors="replace")


def main() -> None:
    """Compile each module on stdin, and print its statistics.

    A module is a JSON object with `kernel` (name), `path` (SPIR-V file), `bindings` (number of buffers), `push` (bytes
    of push constants) and `subgroup` (lanes of a subgroup; 1 allows any number).
    """
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the driver's own output goes to stderr
    try:
        device = Device()
        out.write(json.dumps({"device": device.name, "driver": device.driver}) + "\n")
        for module in json.load(sys.stdin):
            out.flush()
            out.write(json.dumps({"kernel": module["kernel"], **device.statistics(device.pipeline(module))}) + "\n")
    except (Failed, OSError) as e:
        out.write(json.dumps({"failed": str(e)}) + "\n")
    out.flush()
    os._exit(0)  # end without the driver's cleanup


if __name__ == "__main__":
    main()
