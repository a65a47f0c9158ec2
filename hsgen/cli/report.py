"""``hsgen report``: write an HTML page about targets or a bundle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from hsgen.cli.epilogues import refuse, trust_option, unknown
from hsgen.cli.options import Count, Folder, json_option
from hsgen.cli.output import emit_json
from hsgen.core.errors import Usage
from hsgen.targets import target as target_files
from hsgen.tools.compile import nvrtc
from hsgen.tools.report import bundles, measured
from hsgen.tools.report.page import Contents, Subject, every_sort, page

_STDOUT = "-"


@click.command()
@click.option("-t", "--target", "names", multiple=True, help="A target's name, or a file ending in .toml.")
@click.option(
    "--bundle",
    "folder",
    type=Folder(),
    help="Show the bundle in this folder: all its targets, or those named with -t.",
)
@click.option(
    "--bench",
    "benches",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Show the measurements in this file, which `hsgen bench --json` printed.",
)
@click.option("--plan", "sizes", type=Count(), multiple=True, metavar="N", help="Show the launches for N keys.")
@click.option(
    "--arch", type=click.IntRange(10, 999), help="Compile CUDA for sm_ARCH; by default the lowest of the target."
)
@click.option("--no-compile", is_flag=True, help="Compile no kernels; omit registers and spills of CUDA kernels.")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="The file to write; - for stdout.  By default TARGET.html, targets.html or bundle.html.",
)
@trust_option
@json_option
def report(
    names: tuple[str, ...],
    folder: Path | None,
    benches: tuple[Path, ...],
    sizes: tuple[int, ...],
    arch: int | None,
    no_compile: bool,
    output: str | None,
    trusted: bool,
    as_json: bool,
) -> None:
    """Write one page of HTML about targets or a bundle; it needs no other file and no network.

    It shows facts and evidence, drawings of the shapes, the launches, measurements, and the kernels: the size of their
    source and, for CUDA if a compiler is installed, registers and spills.  The same input gives the same page.
    """
    if not names and folder is None:
        raise Usage("nothing to report on; name a target with -t or a bundle with --bundle")
    if as_json and output == _STDOUT:
        raise Usage("output -: --json also prints to stdout; name a file with -o")
    contents = _bundle(folder, names, trusted) if folder is not None else _contents(names)
    known = [s.target.name for s in contents.subjects]
    rows = _rows(benches, known)
    _fitting(contents, sizes, arch)
    default = f"{known[0]}.html" if len(known) == 1 else "targets.html" if folder is None else "bundle.html"
    path = None if output == _STDOUT else _writable(Path(output or default))
    text = page(replace(contents, records=rows, sizes=sizes, compiled=not no_compile, arch=arch, progress=_note))
    if path is None:
        click.echo(text, nl=False)
        return
    _write(path, text)
    if as_json:
        record = {"path": str(path), "bytes": len(text.encode()), "targets": known}
        emit_json([{**record, "sorts": [sort.name for s in contents.subjects for sort in s.sorts]}])
    else:
        click.echo(f"wrote {path}")


def _note(line: str) -> None:
    """Print a line about the progress on stderr."""
    click.echo(f"hsgen: {line}", err=True)


def _rows(files: tuple[Path, ...], known: list[str]) -> list[measured.Record]:
    """Return the rows of the benchmark documents `files`; all rows must measure targets in `known`."""
    rows: list[measured.Record] = []
    for file in files:
        records = measured.read(file)
        measured.of_targets(file, records, known)
        rows += records
    return rows


def _bundle(folder: Path, names: tuple[str, ...], trusted: bool) -> Contents:
    """Return the contents of a page about a bundle; refuse epilogues that are unknown and not `trusted`."""
    refuse(folder, unknown(bundles.epilogues(folder, names), trusted=trusted))
    return bundles.contents(folder, names)


def _contents(names: tuple[str, ...]) -> Contents:
    """Return the contents of a page about targets without a bundle."""
    targets = [target_files.find(name) for name in names]
    for target in targets:
        if sum(t.name == target.name for t in targets) > 1:
            raise Usage(f"target {target.name}: named twice; name it once")
    subjects = [Subject(target=t, sorts=every_sort(t), apis=t.apis) for t in targets]
    return Contents(title=f"Target{'s' * (len(targets) > 1)}: {', '.join(t.name for t in targets)}", subjects=subjects)


def _fitting(contents: Contents, sizes: tuple[int, ...], arch: int | None) -> None:
    """Check that --plan and --arch have an effect.

    Raises:
        Usage: a count exceeds all sorts, or no target has CUDA kernels to compile for `arch`.
    """
    most = max((sort.plan.max_n for s in contents.subjects for sort in s.sorts), default=0)
    for n in sizes:
        if n > most:
            raise Usage(f"plan {n}: the sorts on this page sort up to {most} keys; give no more")
    if arch is not None and not any(nvrtc.API.name in s.apis for s in contents.subjects):
        names = ", ".join(s.target.name for s in contents.subjects)
        raise Usage(f"arch {arch}: is for CUDA, for which {names} has no kernels; omit it")


def _writable(path: Path) -> Path:
    """Check that a file can be written, before kernels are compiled; return its path.

    Raises:
        Usage: the path is a folder, or the folder of the file does not exist.
    """
    if path.is_dir() or not path.parent.is_dir():
        problem = "is a folder" if path.is_dir() else f"its folder {path.parent} does not exist"
        raise Usage(f"{path}: cannot be written ({problem}); name a file that can with -o")
    return path


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as e:
        raise Usage(f"{path}: cannot be written ({e.strerror}); name a file that can with -o") from None
