"""Common properties of the classes of the Python API: argument order, wrong types, tables, representations."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sorters import SMALL

from hsgen import opencl
from hsgen.core.errors import Usage
from hsgen.engines.hosts import Host
from hsgen.opencl import Checker, Merger, Scanner, SegmentedSorter, Sorter, import_pyopencl

pytestmark = pytest.mark.device
cl = import_pyopencl()
array = pytest.importorskip("pyopencl.array")

CLASSES: tuple[Any, ...] = (Sorter, SegmentedSorter, Merger, Scanner, Checker)
SHARED = ("value", "order", "target")


@pytest.fixture(scope="module")
def made(queue: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[type, Any]:
    """One instance of each class, for a small target where that has the algorithm."""
    path: Path = tmp_path_factory.mktemp("faces") / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return {c: c(queue.context, "u32", target="generic" if c is Scanner else path) for c in CLASSES}


def numbers(queue: Any, *shape: int) -> Any:
    return array.to_device(queue, np.arange(int(np.prod(shape)), dtype=np.uint32).reshape(shape))


def test_every_class_is_public() -> None:
    more = {"TopK", "ReduceByKey", "GroupBy", "unique", "run_length_encode", "import_pyopencl"}
    more |= {"ColumnSorter", "Field", "Gatherer", "Operation"}
    assert {c.__name__ for c in CLASSES} | more == set(opencl.__all__)


@pytest.mark.parametrize("class_", CLASSES)
def test_two_arguments_are_positional_and_the_others_have_one_order(class_: Any) -> None:
    found = list(inspect.signature(class_).parameters.values())
    by_name = [p.name for p in found if p.kind is p.KEYWORD_ONLY]
    assert [p.name for p in found if p.kind is p.POSITIONAL_OR_KEYWORD] == ["context", "key"]
    assert len(by_name) == len(found) - 2
    assert by_name[: by_name.index("target") + 1] == [n for n in SHARED if class_ is not Scanner or n == "target"]


@pytest.mark.parametrize("class_", CLASSES)
def test_a_context_is_needed(class_: Any, queue: Any) -> None:
    with pytest.raises(TypeError, match=r"^context is None; give a pyopencl\.Context$"):
        class_(None)
    with pytest.raises(TypeError, match=r"^context is a str; give a pyopencl\.Context$"):
        class_("u32")
    with pytest.raises(TypeError, match=r"^context is a CommandQueue; give a pyopencl\.Context$"):
        class_(queue, "u32")
    with pytest.raises(TypeError, match=r"^target is an int; give the name of a target, or the path of its file$"):
        class_(queue.context, target=7)
    with pytest.raises(Usage, match=r"order \['up'\]: unknown" if class_ is not Scanner else "5 columns"):
        class_(queue.context, **({"columns": 5} if class_ is Scanner else {"order": ["up"]}))


@pytest.mark.parametrize("class_", CLASSES)
def test_a_queue_and_arrays_are_needed(class_: Any, queue: Any, made: dict[type, Any]) -> None:
    call, keys = made[class_], numbers(queue, 8)
    before = keys.get()
    rest = {Merger: (keys, numbers(queue, 16))}.get(class_, ())
    more = {"segments": 2} if class_ is SegmentedSorter else {}
    for wrong, what in ((None, "None"), (queue.context, "a Context"), (keys, "an Array")):
        with pytest.raises(TypeError, match=rf"^queue is {what}; give a pyopencl\.CommandQueue$"):
            call(wrong, keys, *rest, **more)
    with pytest.raises(TypeError, match=r"^wait_for is an? \w*Event; give a list of events$"):
        call(queue, keys, *rest, **more, wait_for=cl.UserEvent(queue.context))
    name = "a" if class_ is Merger else "keys"
    for wrong, what in ((None, "None"), (before, "a ndarray"), ([1, 2], "a list")):
        with pytest.raises(TypeError, match=f"^{name} is {what}; give a pyopencl array or buffer$"):
            call(queue, wrong, *rest, **more)
        if class_ in (Sorter, Scanner, Checker):
            with pytest.raises(TypeError, match=f"^{name} is {what}; give a pyopencl array or buffer$"):
                call(queue, wrong, n=0)
    assert (keys.get() == before).all()


@pytest.mark.parametrize("class_", [c for c in CLASSES if c is not Scanner])
def test_a_table_is_refused_and_its_rows_named(class_: Any, queue: Any, made: dict[type, Any]) -> None:
    call, table, flat = made[class_], numbers(queue, 3, 4)[:, ::1], numbers(queue, 12)
    before = table.get()
    line = {
        Sorter: r"^keys has the shape \(3, 4\); give one dimension, as keys.ravel\(\) has, "
        r"or sort 3 rows with a SegmentedSorter: segments=3$",
        SegmentedSorter: r"^keys has the shape \(3, 4\); give one dimension, as keys.ravel\(\) has, "
        "and the rows as segments=3$",
        Merger: r"^b has the shape \(3, 4\); give one dimension, as b.ravel\(\) has$",
        Checker: r"^keys has the shape \(3, 4\); give one dimension, as keys.ravel\(\) has$",
    }[class_]
    given = {Merger: (flat, table, numbers(queue, 24))}.get(class_, (table,))
    with pytest.raises(ValueError, match=line):
        call(queue, *given, **({"segments": 3} if class_ is SegmentedSorter else {}))
    assert (table.get() == before).all()
    if class_ is Sorter:
        with pytest.raises(ValueError, match=r"^out has the shape \(12, 1\)"):
            call(queue, flat, numbers(queue, 12, 1))
        strided = numbers(queue, 4, 4)[:, :2]
        with pytest.raises(ValueError, match=r"^keys has the shape \(4, 2\)"):
            call(queue, strided)


def test_rows_are_sorted_as_the_hint_says(queue: Any, made: dict[type, Any]) -> None:
    host = np.random.default_rng(1).integers(0, 100, (3, 40), np.uint32)
    keys = array.to_device(queue, host)
    made[SegmentedSorter](queue, keys.ravel(), segments=3).wait()
    assert (keys.get() == np.sort(host)).all()


def test_representations_name_what_was_made(embedded: Host, queue: Any, made: dict[type, Any]) -> None:
    plain = "key='u32', value='none', order='ascending', target='small'"
    for class_, what in (
        (Sorter, f"sort, {plain}"),
        (SegmentedSorter, f"segmented_sort, {plain}"),
        (Merger, f"merge, {plain}"),
        (Checker, f"digest, {plain}"),
        (Scanner, "scan, key='u32', columns=1, exclusive=False, target='generic'"),
    ):
        assert repr(made[class_]) == f"<{class_.__name__}: {what}, device='{embedded.label}'>"


def test_import_pyopencl_shows_the_embedded_device(embedded: Host) -> None:
    """In a process without other imports."""
    program = "from hsgen.opencl import import_pyopencl as i\nprint(*(p.name for p in i().get_platforms()), sep='\\n')"
    env = {**os.environ, "PYTHONPATH": str(Path(opencl.__file__).parents[2])}
    env = {k: v for k, v in env.items() if k not in ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=False)
    assert embedded.platform in done.stdout.splitlines(), done.stderr
