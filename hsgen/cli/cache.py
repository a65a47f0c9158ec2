"""``hsgen cache``: compile kernels ahead of first calls."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import click

from hsgen.apis import cuda, opencl
from hsgen.cli.options import Count, json_option, require_option, required
from hsgen.cli.output import emit_json
from hsgen.cli.progress import progress
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.keys import TYPES, VALUES
from hsgen.cuda import offline
from hsgen.engines.host import Host
from hsgen.system import folders
from hsgen.tools import warm

APIS = CUDA, OPENCL = cuda.API.name, opencl.API.name
_KEYS = ("f32", "i64")


@click.command()
@click.argument("action", type=click.Choice(["warm"]))
@click.option("--api", type=click.Choice(APIS), help="By default cuda with --arch or an NVIDIA GPU, else opencl.")
@click.option("--arch", "archs", multiple=True, metavar="SM", help="An architecture such as sm_90; needs no GPU.")
@click.option("--device", metavar="NAME", help="The OpenCL device; see `hsgen help devices`.")
@click.option("--key", "keys", multiple=True, type=click.Choice(list(TYPES)), help="Keys; by default f32 and i64.")
@click.option("--call", "calls", multiple=True, type=click.Choice(warm.CALLS), help="By default sort and argsort.")
@click.option("--value", "values", multiple=True, type=click.Choice(list(VALUES)), help="Also Sorter with values.")
@click.option("--max-n", "most", type=Count(), default=warm.TOGETHER, help="The most keys; by default 2^30 - 1.")
@click.option("--jobs", "workers", type=click.IntRange(1), help="Compilers that run at once; by default one per CPU.")
@require_option
@json_option
def cache(
    action: str,
    api: str | None,
    archs: tuple[str, ...],
    device: str | None,
    keys: tuple[str, ...],
    calls: tuple[str, ...],
    values: tuple[str, ...],
    most: int,
    workers: int | None,
    require: bool,
    as_json: bool,
) -> None:
    """Compile kernels of the Python APIs into the user's cache, so that first calls do not wait (ACTION is warm).

    With cuda these are the kernels of hsgen.torch, hsgen.cupy and hsgen.jax, with --value also those of
    hsgen.cuda.Sorter.  With opencl these are the kernels of hsgen.sort and hsgen.argsort.
    """
    if not 2 <= most <= warm.TOGETHER:
        raise Usage(f"--max-n {most}: give 2 to {warm.TOGETHER}")
    keys, calls, begin = keys or _KEYS, calls or ("sort", "argsort"), time.monotonic()
    with required(require):
        gpus = _chosen(api, archs, device)
        warmed = _cuda(gpus, keys, calls, values, most, workers) if gpus else _opencl(device, keys, calls, values)
    seconds, folder = time.monotonic() - begin, str(folders.user_caches())
    if as_json:
        emit_json([{**warmed, "seconds": round(seconds, 1), "folder": folder}])
        return
    new = "" if warmed["compiled"] is None else f", {warmed['compiled']} compiled"
    noun = "kernels" if gpus else "sorts"
    click.echo(f"{', '.join(warmed['devices'])}: {warmed['entries']} {noun}{new} in {seconds:.0f} s, in {folder}")


def _chosen(api: str | None, archs: Sequence[str], device: str | None) -> list[Host]:
    """Return the GPUs for which kernels are compiled with CUDA; empty if OpenCL is used instead.

    Raises:
        Usage: options exclude each other, or an architecture is unknown.
        Unavailable: CUDA is requested, and there is no GPU.
    """
    if api == OPENCL or (device is not None and api is None):
        if archs:
            raise Usage("--arch: goes with --api cuda; omit it")
        return []
    if device is not None:
        raise Usage("--device: goes with --api opencl; CUDA compiles for all GPUs of this machine, or for --arch")
    return [offline.gpu(arch) for arch in dict.fromkeys(archs)] or _gpus(optional=api is None)


def _gpus(*, optional: bool) -> list[Host]:
    """Return one GPU of this machine for each architecture.

    Raises:
        Unavailable: there is no GPU.  With `optional`, the result is then empty instead.
    """
    from hsgen.cuda import driver

    try:
        return list({host.compute: host for host in driver.hosts()}.values())
    except Unavailable:
        if optional:
            return []
        raise


def _cuda(
    gpus: Sequence[Host],
    keys: Sequence[str],
    calls: Sequence[str],
    values: Sequence[str],
    most: int,
    workers: int | None,
) -> dict[str, Any]:
    """Compile kernels for GPUs; return the result that the command prints, as an object for JSON."""
    folders.lasting("cubin")
    texts = warm.cuda_texts(gpus, keys, calls, values, most)
    show = progress("compiling", len(texts))
    compiled = sum(show(warm.compiled(texts, workers or os.cpu_count() or 1)))
    names = [f"sm_{host.compute}" for host in gpus]
    return {"api": CUDA, "devices": names, "entries": len(texts), "compiled": compiled}


def _opencl(device: str | None, keys: Sequence[str], calls: Sequence[str], values: Sequence[str]) -> dict[str, Any]:
    """Compile sorts for an OpenCL device; return the result that the command prints, as an object for JSON."""
    if warm.TOPK in calls:
        raise Usage("--call topk: goes with --api cuda; with opencl give sort or argsort")
    folders.lasting("tried")
    label, sorters = warm.opencl_sorters(device, keys, calls, values)
    show = progress("compiling", len(sorters))
    done = sum(1 for _ in show(build() for build in sorters))
    return {"api": OPENCL, "devices": [label], "entries": done, "compiled": None}
