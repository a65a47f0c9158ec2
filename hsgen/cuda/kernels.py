"""The kernels of a sort on one GPU; each is rendered, compiled and loaded at its first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from hsgen.apis.cuda import API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.cuda import background, compiler, shipped
from hsgen.cuda.driver import Device, bindings, done
from hsgen.emit.kernels import render

_THREADS = 8  # concurrent compilations; NVRTC releases Python's lock
_STATIC = 49152  # bytes of shared memory that a block may use without cuKernelSetAttribute
_loading = Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A loaded kernel: the driver's handle, the threads per block, the bytes of shared memory per block."""

    handle: int
    threads: int
    shared: int
    cooperative: bool = False


class Kernels:
    """The kernels of a sort for one GPU.

    rewrite: a function that changes the C++ definitions before each kernel, such as those by which keys are loaded
    (`hsgen.cuda.numeric`).
    """

    def __init__(self, device: Device, sort: Sort, rewrite: Callable[[str], str] = str) -> None:
        self.device, self.sort = device, sort
        self._rewrite = rewrite
        self._known = {k.name: k for k in sort.kernels}
        self._loaded: dict[str, Loaded] = {}
        self._lock = Lock()

    def text(self, name: str) -> tuple[str, str]:
        """Return the CUDA C++ text of one kernel, and the path by which messages of the compiler name the text.

        Only this kernel's template is rendered, because Jinja takes long to compile the templates of all kernels.
        """
        source = render(self.sort, API.name, name)
        return self._rewrite(source.prelude) + source.parts[name], source.path

    def of(self, names: Iterable[str]) -> Mapping[str, Loaded]:
        """Load the kernels `names` that are not loaded yet; return all kernels loaded so far, by name.

        Raises:
            Unavailable: NVRTC is missing or does not know the architecture, or the GPU cannot run a kernel.
            Wrong: a kernel does not compile or load.
        """
        needed = dict.fromkeys(names)
        if any(n not in self._loaded for n in needed):
            background.slow()
            with self._lock:
                _with_compiler(lambda: self._add([n for n in needed if n not in self._loaded]))
        return self._loaded

    def _add(self, names: Sequence[str]) -> None:
        """Compile and load kernels."""
        for name, code in zip(names, self._compiled(names), strict=True):
            self._loaded[name] = self._load(self._known[name], code)

    def _compiled(self, names: Sequence[str]) -> list[bytes]:
        """Return the machine code of the kernels `names`, compiled in up to 8 threads.

        Kernels are rendered one after another, and each goes to a thread at once.  NVRTC takes longest for kernels with
        many shared arrays; these are rendered first.
        """
        if len(names) < 2:
            return [compiler.cubin(*self._subject(name)) for name in names]
        with ThreadPoolExecutor(_THREADS) as pool:
            first = sorted(names, key=lambda name: -len(self._known[name].arrays))
            compilations = {name: pool.submit(compiler.cubin, *self._subject(name)) for name in first}
            return [compilations[name].result() for name in names]

    def _subject(self, name: str) -> tuple[str, int, str]:
        """Return the arguments of `compiler.cubin` for the kernel `name`: its text, the architecture, and the path for
        messages.
        """
        text, path = self.text(name)
        return text, self.device.arch, path

    def _load(self, kernel: Kernel, code: bytes) -> Loaded:
        handle, shared = load(self.device, kernel.name, code), kernel.local_bytes(self.sort.key)
        driver = bindings()
        if shared > _STATIC:
            which = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            place = done(driver.cuDeviceGet(self.device.number))
            if driver.cuKernelSetAttribute(which, shared, driver.CUkernel(handle), place)[0] != 0:
                label = self.device.host.label
                raise Unavailable(f"{label}: kernel {kernel.name} needs {shared} bytes of shared memory")
        return Loaded(handle=handle, threads=kernel.work_group, shared=shared, cooperative=kernel.cooperative)

    def check_resident(self, one: Loaded, blocks: int, name: str) -> None:
        """Check that the GPU can run all blocks of a cooperative launch at once.

        Raises:
            Unavailable: the GPU runs fewer blocks at once.
        """
        driver = bindings()
        with self.device.current():
            result = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                driver.CUfunction(one.handle), one.threads, one.shared
            )
        most = self.device.cores * int(done(result, f"kernel {name}"))
        if most < blocks:
            label = self.device.host.label
            raise Unavailable(f"{label} runs {most} blocks of kernel {name} at once, {self.sort.target} needs {blocks}")


def load(device: Device, name: str, code: bytes) -> int:
    """Load machine code and return the handle of its kernel; the code stays loaded until the process ends.

    The last driver call loads the kernel into the context at once.  Otherwise, the driver would load the kernel at its
    first launch, which is impossible during the capture of a graph.

    Raises:
        Wrong: the driver does not load the kernel.
    """
    driver = bindings()
    with _loading, device.current(), relaxed():
        library = done(driver.cuLibraryLoadData(code, [], [], 0, [], [], 0), f"loading kernel {name}")
        kernel = done(driver.cuLibraryGetKernel(library, name.encode()), f"loading kernel {name}")
        done(driver.cuKernelGetFunction(kernel), f"loading kernel {name}")
    return int(kernel)


def _with_compiler(loads: Callable[[], None]) -> None:
    """Call `loads`.  If the driver refuses machine code of the package `hsgen_cubins`, disable the package and call
    again.
    """
    used = shipped.used()
    try:
        loads()
    except Wrong:
        if not used:
            raise
        shipped.refuse()
        loads()


_single: dict[tuple[int, str, str], Any] = {}
_compiling = Lock()


def single(device: Device, name: str, text: str, path: str) -> Any:
    """Return the driver's function for the kernel `name`, which a CUDA C++ text defines without other kernels; an
    example is that of `Finish`.

    The kernel is compiled and loaded at the first call.  Messages name its text by `path`.

    Raises:
        Unavailable, Wrong: the kernel does not compile or load.
    """
    key = device.number, name, text
    if key not in _single:
        background.slow()
        with _compiling:
            if key not in _single:
                _with_compiler(
                    lambda: _single.update({key: load(device, name, compiler.cubin(text, device.arch, path))})
                )
    return bindings().CUfunction(_single[key])


@contextmanager
def meanwhile(device: Device, name: str, text: str, path: str) -> Iterator[None]:
    """Call `single` in a thread, so that its kernel is compiled while the block runs.

    An error in the thread is dropped; the caller's later call of `single` raises it.
    """
    if (device.number, name, text) in _single or background.hasty():
        yield
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(single, device, name, text, path)
        yield


@contextmanager
def relaxed() -> Iterator[None]:
    """In the block, this thread may load machine code even while a thread of the process captures a CUDA graph."""
    driver = bindings()
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = done(driver.cuThreadExchangeStreamCaptureMode(mode))
    try:
        yield
    finally:
        driver.cuThreadExchangeStreamCaptureMode(before)
