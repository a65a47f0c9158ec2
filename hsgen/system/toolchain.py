"""The OpenCL runtimes and the external programs that are installed on this machine.

No function installs a program.  The only files of other programs that a function changes are stale lock files of
pyopencl's cache, which are removed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

from hsgen.core.errors import Notice, Unavailable
from hsgen.system import extras, folders, processes

EMBEDDED = "intel-opencl-rt"
_LIBRARY = "libintelocl.so"
_VENDORS = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
_STALE = 60.0  # seconds after which a lock file of pyopencl's cache is stale; a killed process does not remove its lock
_SYSTEM = Path("/etc/OpenCL/vendors")


def embedded_runtime() -> Path | None:
    """Return the library of the embedded runtime, Intel's OpenCL runtime for CPUs; None if it is not installed.

    pip installs the runtime by the extra ``cpu-device`` of hsgen.  `embedded_problem` tells whether it can be used.
    """
    from importlib import metadata  # slow to import

    try:
        files = metadata.files(EMBEDDED) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == _LIBRARY:
            path = Path(str(file.locate())).resolve()
            if path.is_file():
                return path
    path = Path(sys.prefix) / "lib" / _LIBRARY
    return path if path.is_file() else None


def embedded_problem() -> str | None:
    """Return the reason why the embedded runtime cannot be used; None if it can be used."""
    runtime = embedded_runtime()
    if runtime is None:
        return "not installed"
    if any(c.isspace() for c in str(runtime)):
        return f"cannot run from a path with a space: {runtime.parent}"
    return None


def how_to_get_one() -> str:
    """Return advice for a user who has no OpenCL device."""
    chosen = next((v for v in _VENDORS if os.environ.get(v)), None)
    if embedded_problem() is None and chosen:
        return f"the embedded one is installed, but the variable {chosen} hides it"
    if embedded_runtime() is not None:
        return f"the embedded one {embedded_problem()}"
    return f"install the embedded one with {extras.command('cpu-device')}"


def prepare_opencl() -> None:
    """Make the OpenCL loader list the embedded runtime, in addition to the runtimes that it already lists.

    The loader finds runtimes by .icd files in a single folder.  The function creates a temporary folder with the
    existing .icd files and one for the embedded runtime, and names the folder in an environment variable.  If such a
    variable already names a folder, the function does nothing.
    """
    runtime = embedded_runtime()
    if runtime is None or embedded_problem() or any(os.environ.get(v) for v in _VENDORS):
        return
    folder = folders.temporary()
    for place in (_SYSTEM, *_bundled_icds()):
        for icd in sorted(place.glob("*.icd")):
            shutil.copyfile(icd, folder / icd.name)
    (folder / "hsgen-embedded.icd").write_text(f"{runtime}\n", encoding="utf-8")
    os.environ[_VENDORS[0]] = str(folder)


def _bundled_icds() -> list[Path]:
    """Return the folders of the package pyopencl in which other packages put .icd files of their OpenCL runtimes."""
    from importlib import metadata

    try:
        place = metadata.distribution("pyopencl").locate_file("")
    except metadata.PackageNotFoundError:
        return []
    return [p for p in (Path(str(place)) / "pyopencl" / ".libs", Path(str(place)) / "pyopencl.libs") if p.is_dir()]


@cache
def pyopencl() -> ModuleType:
    """Import pyopencl, after preparations for the embedded runtime and for caches, and return the module.

    No further code may import pyopencl itself.

    Raises:
        Unavailable: pyopencl is not installed or finds no OpenCL loader.
    """
    prepare_opencl()
    prepare_caches()
    try:
        return importlib.import_module("pyopencl")
    except ImportError as e:
        raise Unavailable(f"pyopencl cannot be imported ({e}); install it with pip install pyopencl") from None


def prepare_caches() -> None:
    """Let pyopencl continue after errors of its cache, and disable OpenCL's caches if they are unsafe or unusable.

    `hsgen.system.folders.problem` decides.  An unsafe cache could run code of another user, because the cache of
    pyopencl contains pickled objects, and that of PoCL contains libraries.  The function also removes stale lock files
    of pyopencl's cache.
    """
    os.environ.setdefault("PYOPENCL_CACHE_FAILURE_FATAL", "")  # pyopencl fails if the variable does not exist
    if problem := folders.problem("pyopencl", "pytools", "pocl"):
        warnings.warn(f"caches of OpenCL: {problem}; kernels are compiled again in each run", Notice, stacklevel=2)
        os.environ["PYOPENCL_NO_CACHE"] = "1"
        os.environ["POCL_CACHE_DIR"] = str(folders.temporary())
        return
    # pyopencl holds a lock only while it accesses the files of its cache
    for lock in (folders.user_caches() / "pyopencl").glob("*/lock"):
        with suppress(OSError):
            if time.time() - lock.stat().st_mtime > _STALE:
                lock.unlink()


def tool(name: str) -> str | None:
    """Return the absolute path of an external program, or None if PATH has no such program.

    Relative entries of PATH are ignored.
    """
    path = shutil.which(name, path=os.pathsep.join(processes.search_path()))
    if path is None or (Path(name).name == name and not Path(path).is_absolute()):
        return None
    return str(Path(path).absolute())


def has_module(name: str) -> bool:
    """Return True if a Python module is installed; the module is not imported."""
    return importlib.util.find_spec(name) is not None


def run(
    command: Sequence[str], seconds: float, *, cwd: Path | None = None, text: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run an external program with `text` on stdin, and return its exit code and its output, decoded as UTF-8.

    seconds: the time limit.
    cwd: the current folder of the program; by default a temporary folder.
    variables: additions to the environment of the program.

    Raises:
        subprocess.TimeoutExpired: the program does not end within `seconds`.
        OSError: the program does not start.
    """
    with folders.scratch() as folder:
        return processes.run(command, seconds, folder, text, cwd, **variables)
