"""CUDA kernels of a sort compiled as a library for the host, for machines without a GPU."""

from __future__ import annotations

import atexit
import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tools import tool

from hsgen.core.interpreter import PLAIN, Options, launches, offset, scratch_bytes, spare_at
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.operations import oracle

PLAY = """
extern "C" const char *play(int k, unsigned x, unsigned y, unsigned lanes, size_t shared, unsigned seed, void **p,
                            int n, int argument, int low, int high)
{
    std::function<void()> body;
    unsigned resident = HOST_RESIDENT;
    (void)low, (void)high;
@
    return host::launch({x, y, 1}, lanes, shared, seed, body, resident);
}
"""
"""The library's only function; a line per kernel replaces @."""
SOURCES = Path(__file__).parent / "compile"
GUARD = 64
"""Guard bytes after each buffer."""
WORDS = {
    "hs_wait_for_kernels": "() host::wait_for_kernels()",
    "hs_atomic_load": "(x) host::loaded(&(x))",
    "hs_local_atomic_load": "(x) host::loaded_here(&(x))",
    "hs_local_atomic_store": "(x, y) host::stored(&(x), y)",
    "hs_atomic_store": "(x, y) host::stored(&(x), y)",
    "hs_atomic_load_2": "(out, from, i) host::loaded_words<2>(out, (from) + (i))",
    "hs_atomic_load_4": "(out, from, i) host::loaded_words<4>(out, (from) + (i))",
    "hs_atomic_store_2": "(to, i, a, b) host::stored_words((to) + (i), a, b)",
    "hs_atomic_store_4": "(to, i, a, b, c, d) host::stored_words((to) + (i), a, b, c, d)",
}
"""Words that CUDA has by assembly or by volatile accesses, which let no other fiber run."""


def translated(text: str) -> str:
    """Return CUDA C++ without inline PTX and shared arrays, which host compilers do not know."""
    text = text.replace(
        "extern __shared__ unsigned long long hs_shared[];", "auto *hs_shared = host::now->block->shared.data();"
    )
    vote = "{ hs_lanemask set_ = hs_ballot(((d) >> (b) & 1) != 0); same &= ((d) >> (b) & 1) != 0 ? set_ : ~set_; }"
    text = re.sub(
        r"#define hs_match_bit\(same, d, b\) asm volatile.*", f"#define hs_match_bit(same, d, b) {vote}", text
    )
    for word, function in WORDS.items():
        text = re.sub(rf"#define {word}\((?!.*__hip).*", f"#define {word}{function}", text)
    text = re.sub(
        r"hs_u32 \*hs_grid_word\(\)\n\{.*?\n\}", "hs_u32 *hs_grid_word() { return &host::word; }", text, flags=re.S
    )
    return text.replace("#if __CUDA_ARCH__ >= 700", "#if 0")


@cache
def memory_model(compiler: str) -> Path:
    """Return the object file of memory_on_host.cpp, which a process compiles once."""
    folder = Path(tempfile.mkdtemp(prefix="hsgen-memory-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    model = folder / "memory_on_host.o"
    _done([compiler, "-std=c++14", "-O2", "-fPIC", "-c", str(SOURCES / "memory_on_host.cpp"), "-o", str(model)])
    return model


@cache
def parsed_headers(compiler: str, *flags: str) -> list[str]:
    """Return the flags that include the headers of cuda_on_host.hpp, which a process parses once for equal flags."""
    folder = Path(tempfile.mkdtemp(prefix="hsgen-headers-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    header = folder / "host_headers.hpp"
    shutil.copy(SOURCES / header.name, header)
    _done([compiler, *flags, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
    return ["-include", str(header)]


@dataclass(frozen=True)
class OnHost:
    """The compiled kernels of a sort."""

    sort: Sort
    library: Path

    def call(
        self, keys: NDArray[Any], values: NDArray[Any] | None, how: Options, *, in_place: bool, seed: int, n: int
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Sort `n` keys, or as many as the device-side count says; return keys and values."""
        sort, live = self.sort, len(keys)
        rng = np.random.default_rng(seed)
        size, value = sort.key.bytes, sort.signature.value_bytes

        def room(bytes_: int, given: NDArray[Any] | None = None) -> NDArray[np.uint8]:
            made = rng.integers(0, 256, bytes_ + GUARD, np.uint8)
            made[bytes_:] = 0xC5
            if given is not None:
                made[: given.nbytes] = given.view(np.uint8).reshape(-1)
            return made

        buffers = {
            "source": room(n * size, keys),
            "scratch": room(scratch_bytes(sort, n, how)),
            "values": room(n * value, values) if values is not None else room(0),
            "count": np.array([live] * (1 + GUARD // 4), np.uint32).view(np.uint8),
        }
        before = {name: b.copy() for name, b in buffers.items()}
        along = in_place and values is not None
        buffers["destination"] = buffers["source"] if in_place else room(n * size)
        buffers["values_out"] = buffers["values"] if along else room(n * value)
        if how.discard:
            buffers["destination"] = buffers["scratch"][spare_at(sort, n) :]
        self._launch(buffers, n, how, in_place=in_place and not how.discard, seed=seed)
        for name, b in buffers.items():
            assert name == "count" or (b[-GUARD:] == 0xC5).all(), f"written beyond {name}"
        if not in_place or how.discard:
            assert (buffers["source"] == before["source"]).all() and (
                along or (buffers["values"] == before["values"]).all()
            )
        out = buffers["destination"][: live * size].view(keys.dtype)
        words = buffers["values_out"][: live * value].view(np.uint32).reshape(live, value // 4) if value else None
        return out, words

    def _launch(
        self, buffers: dict[str, NDArray[np.uint8]], n: int, how: Options, *, in_place: bool, seed: int
    ) -> None:
        library = ctypes.CDLL(str(self.library))
        for launch in launches(self.sort.plan, n, in_place=in_place, how=how):
            step, kernel = launch.step, self.sort.kernel(launch.step.kernel)
            pointers = (ctypes.c_void_p * 10)()
            for i, b in enumerate(step.bindings):
                pointers[i] = buffers[b.role].ctypes.data + offset(b, n)
            bounds = step.guard.min_n, min(step.guard.max_n, 2**31 - 1)
            sizes = *launch.grid, kernel.work_group, ctypes.c_size_t(kernel.local_bytes(self.sort.key)), seed
            which = self.sort.kernels.index(kernel)
            library.play.restype = ctypes.c_char_p
            wrong = library.play(which, *sizes, pointers, n, launch.argument, *bounds)
            assert wrong is None, f"{kernel.name}: {wrong.decode()}"


def compiled(
    sort: Sort,
    folder: Path,
    change: Callable[[str], str] = lambda text: text,
    *,
    memory: bool = False,
    api: str = "cuda",
) -> OnHost:
    """Compile the kernels of a sort in `folder`.

    change: edits their text first.  memory: with the model of memory_on_host.cpp, which `HostEngine` has.  api: that of
    the text, "cuda" or "hip".
    """
    compiler = tool("c++")
    calls = []
    for number, k in enumerate(sort.kernels):
        arguments = [*(f"host::Any{{p[{i}]}}" for i in range(len(k.buffers))), "n", "argument"]
        arguments += ["low", "high"] * bool(sort.signature.numbers)
        resident = ", resident = x * y" if k.cooperative else ""
        calls.append(f"    if (k == {number}) body = [=] {{ {k.name}({', '.join(arguments)}); }}{resident};")
    text, play = change(translated(render(sort, api).text)), PLAY.replace("@", "\n".join(calls))
    source, library = folder / f"{sort.file}.cpp", folder / f"{sort.file}.so"
    header = SOURCES / {"cuda": "cuda_on_host.hpp", "hip": "hip_on_host/hip/hip_runtime.h"}[api]
    source.write_text(f'#include "{header}"\n{text}{play}', encoding="utf-8")
    lanes = [f"-DHOST_WARP={sort.lanes}"] if 1 < sort.lanes < 32 else []
    flags = ["-std=c++14", "-O1", "-fPIC"]
    if memory:
        flags.append("-fsanitize=thread")
        flags += [*parsed_headers(compiler, *flags), *lanes, "-DHOST_MEMORY", "-DHOST_YIELDS=400000000ull"]
        made = source.with_suffix(".o")
        _done([compiler, *flags, "-c", str(source), "-o", str(made)])
        _done([compiler, "-shared", "-Wl,-Bsymbolic", str(memory_model(compiler)), str(made), "-o", str(library)])
    else:
        _done([compiler, *flags, *lanes, "-shared", str(source), "-o", str(library)])
    return OnHost(sort, library)


def _done(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def right(made: OnHost, keys: NDArray[Any], how: Options = PLAIN, *, in_place: bool, seed: int, n: int = -1) -> bool:
    """Whether a call returns numpy's result; with a device-side count, `n` is its upper bound."""
    sort = made.sort
    values = oracle.values_for(np.random.default_rng(seed), len(keys), sort)
    order = oracle.permutation(keys, sort, how)
    got, along = made.call(keys, values, how, in_place=in_place, seed=seed, n=len(keys) if n < 0 else n)
    wanted = oracle.values_expected(values, order, sort)
    same = wanted is None or (along is not None and np.array_equal(along, wanted))
    return same and (how.discard or np.array_equal(got, keys[order]))
