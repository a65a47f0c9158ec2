"""Options of `hsgen bench` that name baselines and the folders of their sources."""

from __future__ import annotations

import os
from pathlib import Path

import click

from hsgen.apis.cuda import CCCL
from hsgen.cli import bench_sorts
from hsgen.core.errors import Usage
from hsgen.tools.bench.baselines import KNOWN
from hsgen.tools.bench.baselines.build import PEERS


def named(context: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    """Return the baselines that --against names, without repetitions.

    Raises:
        Usage: a name is neither a known baseline nor a sort of hsgen.
    """
    if value is None:
        return None
    names = list(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    for name in names:
        if name not in KNOWN and not name.startswith(bench_sorts.PREFIX):
            raise Usage(
                f"baseline {name}: unknown; known are {', '.join(KNOWN)}, and hsgen:LABEL and others for alternatives"
            )
    return names


def headers(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Use the headers of CUB in a folder for baselines.

    Raises:
        Usage: the folder has no headers of CUB.
    """
    if value is None:
        return
    if not (Path(value) / "cub" / "cub.cuh").is_file():
        raise Usage(f"--cccl {value}: has no cub/cub.cuh; give a folder such as nvidia/cu13/include/cccl")
    os.environ[CCCL] = str(Path(value).resolve())


def sources(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Use the sources in a folder for baselines.

    Raises:
        Usage: there is no such folder.
    """
    if value is None:
        return
    if not Path(value).is_dir():
        raise Usage(f"--peer-source {value}: is no folder; give that of a baseline's sources")
    os.environ[PEERS] = str(Path(value).resolve())
