"""The package hsgen_cubins: machine code of kernels that first calls from Python launch, as a wheel of its own.

    python .ci/cubins.py FOLDER [--arch sm_90] [--key f32] [--max-n N]    writes the wheel, and prints its path

Options may be repeated.  Compilations take one to two minutes of a processor for each key and architecture.  The same
sources and the same NVRTC give the same bytes.  The kernels are those of sort, argsort and topk of `hsgen.torch`.
"""

import argparse
import base64
import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hsgen import __version__
from hsgen.cuda import compiler, offline, shipped
from hsgen.tools import warm
from hsgen.tools.compile import nvrtc

RELEASED = (("sm_80", "sm_90", "sm_100"), ("f32", "i32", "i64"))
"""The architectures and the keys of the wheel of a release: the GPUs of data centres, and PyTorch's usual types."""
ARCHS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121")
KEYS = ("f16", "bf16", "f32", "f64", "i32", "i64")
MOST = (1 << 30) - 1
OLDER = "nvidia-cuda-nvrtc-cu12"
"""The package of the NVRTC whose code drivers of CUDA 12 and 13 load; without it, NVRTC of cuda.bindings."""
CALLS = ("sort", "argsort", "topk")
CUDA = 190
"""The number of CUDA's machine in the header of an ELF file."""
EPOCH = (1980, 1, 1, 0, 0, 0)
LICENSE = Path(__file__).resolve().parents[1] / "LICENSES/MIT-0.txt"
METADATA = f"""Metadata-Version: 2.4
Name: hsgen-cubins
Version: {__version__}
Summary: Machine code of hsgen's CUDA kernels, so that first calls from Python need no compiler
License-Expression: MIT-0
Requires-Python: >=3.11
Requires-Dist: hsgen=={__version__}
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: hsgen\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def compiled(text: str, arch: int, path: str) -> tuple[int, bytes]:
    """The major version of NVRTC, and the machine code of a text."""
    for library in nvrtc._libraries(OLDER):
        one = nvrtc._nvrtc(library)
        if arch in one.archs:
            return int(one.name.split()[-1].split(".")[0]), nvrtc._by_nvrtc(one, text, arch)[1]
    return compiler.version()[0], compiler.compiled(text, arch, path)


def files(texts: warm.Texts, workers: int) -> dict[str, bytes]:
    """The files of the package, without its metadata."""
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda at: compiled(at[0][1], at[0][0], at[1]), texts.items()))
    codes = {
        shipped.name(text, arch, compiler.options(arch)): code
        for (arch, text), (_, code) in zip(texts, results, strict=True)
    }
    index = {
        "driver": max(major for major, _ in results),
        "codes": {name: hashlib.sha256(code).hexdigest() for name, code in sorted(codes.items())},
    }
    out = {f"{shipped.PACKAGE}/{name}": code for name, code in codes.items()}
    out[f"{shipped.PACKAGE}/__init__.py"] = f'"""Machine code of the kernels of hsgen {__version__}."""\n'.encode()
    out[f"{shipped.PACKAGE}/{shipped.INDEX}"] = (json.dumps(index, indent=1) + "\n").encode()
    return out


def wheel(contents: Mapping[str, bytes]) -> bytes:
    """The bytes of a wheel with these files."""
    info = f"{shipped.PACKAGE}-{__version__}.dist-info"
    every = dict(sorted(contents.items()))
    every |= {f"{info}/METADATA": METADATA.encode(), f"{info}/WHEEL": WHEEL.encode()}
    every[f"{info}/licenses/LICENSE"] = LICENSE.read_bytes()
    digests = {n: base64.urlsafe_b64encode(hashlib.sha256(x).digest()).rstrip(b"=").decode() for n, x in every.items()}
    rows = [f"{n},sha256={digests[n]},{len(x)}" for n, x in every.items()] + [f"{info}/RECORD,,"]
    every[f"{info}/RECORD"] = ("\n".join(rows) + "\n").encode()
    room = io.BytesIO()
    with zipfile.ZipFile(room, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in every.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, content)
    return room.getvalue()


def problems(path: Path) -> list[str]:
    """What is wrong with the files of a wheel, by their hashes, and whether the wheel has the bytes of `wheel`."""
    with zipfile.ZipFile(path) as archive:
        every = {name: archive.read(name) for name in archive.namelist()}
    package = {name: data for name, data in every.items() if name.startswith(f"{shipped.PACKAGE}/")}
    codes = {name.removeprefix(f"{shipped.PACKAGE}/"): x for name, x in package.items() if name.endswith(".cubin")}
    index = json.loads(package[f"{shipped.PACKAGE}/{shipped.INDEX}"])
    out = [] if set(index["codes"]) == set(codes) else ["the index lists other kernels"]
    for name, data in codes.items():
        if hashlib.sha256(data).hexdigest() != index["codes"].get(name):
            out.append(f"{name}: the index has another hash")
        if data[:4] != b"\x7fELF" or int.from_bytes(data[18:20], "little") != CUDA:
            out.append(f"{name}: no machine code of CUDA")
    return out if path.read_bytes() == wheel(package) else [*out, "the same files give other bytes"]


def main(arguments: list[str]) -> None:
    """Build the wheel."""
    parser = argparse.ArgumentParser(description="Build the package hsgen_cubins.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", action="append", choices=[f"sm_{arch}" for arch in offline.SHARED])
    parser.add_argument("--key", action="append")
    parser.add_argument("--max-n", type=int, default=MOST)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args(arguments)
    gpus = [offline.gpu(arch) for arch in chosen.arch or ARCHS]
    texts = warm.cuda_texts(gpus, chosen.key or KEYS, CALLS, (), chosen.max_n)
    path = chosen.folder / f"{shipped.PACKAGE}-{__version__}-py3-none-any.whl"
    chosen.folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wheel(files(texts, chosen.workers)))
    print(f"{path}: {len(texts)} kernels, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
