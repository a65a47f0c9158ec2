"""The handler in C of hsgen.jax, without JAX and without a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from jax_frames import CONTEXT, MOST, STREAM, Caller, Work, compiled, handler
from tools import C, need

from hsgen.core.errors import Unavailable, Wrong
from hsgen.cuda.prepared import DriverLaunch, Recorded
from hsgen.system import compilers

COOPERATIVE, EARLY = 2, 6


@pytest.fixture(scope="module")
def compiler() -> list[str]:
    need(C)
    return compilers.shared_c99()


@pytest.fixture
def caller(compiler: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Caller]:
    one = Caller(compiler, tmp_path, monkeypatch)
    yield one
    assert one.driver.fake_depth() == 0


def work(rows: int = 1, **more: Any) -> Any:
    return Work(0, rows, 1000, False, True, True, **more)


def launch(number: int, arguments: Sequence[int], addresses: Sequence[bool], **more: Any) -> Recorded:
    """Return a recorded launch of a kernel that has the name `k` and a number."""
    where = (number << 8 | len(arguments), 10 + number, 3, 1, 128, 1, 1, 4096 * number)
    return Recorded(DriverLaunch(where=where, at=0, name=f"k{number}", **more), tuple(arguments), tuple(addresses))


def buffer(index: int, offset: int = 0) -> int:
    return (index << 56) + offset


def test_buffers_and_offsets_become_arguments(caller: Caller) -> None:
    launches = [
        launch(1, [buffer(1), buffer(4, 512), (1 << 64) - 5, 0], [True, True, False, True], early=True),
        launch(2, [], [], cooperative=True),
        launch(3, [buffer(2, 8), buffer(3), *range(MOST - 2)], [True, True, *[False] * (MOST - 2)]),
    ]
    handler.add(caller.library, work(), CONTEXT, 4, launches)
    buffers = [0x7F0000000000 + (i << 32) for i in range(4)]
    assert caller.call(work(), buffers) == ""
    first, second, third = caller.records()
    assert list(first.arguments[:4]) == [buffers[0], buffers[3] + 512, (1 << 64) - 5, 0]
    assert list(third.arguments) == [buffers[1] + 8, buffers[2], *range(MOST - 2)]
    assert [r.function for r in (first, second, third)] == [0x104, 0x200, 0x300 + MOST]
    assert [list(r.grid) for r in (first, second, third)] == [[11, 3, 1], [12, 3, 1], [13, 3, 1]]
    assert [(list(r.block), r.shared) for r in (first, third)] == [([128, 1, 1], 4096), ([128, 1, 1], 12288)]
    assert [(r.attribute, r.set) for r in (first, second, third)] == [(EARLY, 1), (COOPERATIVE, 1), (0, 0)]
    assert {(r.stream, r.context) for r in (first, second, third)} == {(STREAM, CONTEXT)}


def test_each_gpu_has_its_recipe_and_prepares_it_once(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = []

    def recipe(work: Any, number: int) -> Any:
        prepared.append((work, number))
        return number, work.buffers, [launch(number, [buffer(1)], [True])]

    monkeypatch.setattr(handler, "recipe", recipe)
    works = [work(rows, take=take, value=value) for rows in (1, 2) for take in (0, 3) for value in (0, 4)]
    for _ in range(2):
        for one in works:
            for gpu in (5, 6):
                assert caller.call(one, range(1000, 1000 + one.buffers), gpu << 8) == ""
    assert prepared == [(one, gpu) for one in works for gpu in (5, 6)]
    records = caller.records()
    assert [(r.function >> 8, r.context) for r in records] == [(gpu, gpu) for _ in range(16) for gpu in (5, 6)]


def test_errors_are_one_sentence(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(work: Any, number: int) -> Any:
        raise Unavailable("no NVRTC " + "x" * work.rows)

    monkeypatch.setattr(handler, "recipe", fails)
    assert caller.call(work(2), [1, 2, 3, 4]) == "hsgen: no NVRTC xx"
    assert caller.call(work(1000), [1, 2, 3, 4]).startswith("hsgen: no NVRTC xxxx")
    monkeypatch.setattr(handler, "recipe", lambda work, number: (number + 1, 4, []))
    assert caller.call(work(3), [1, 2, 3, 4]) == "hsgen: the stream is not of a GPU's primary context"
    handler.add(caller.library, work(4), CONTEXT, 4, [launch(1, [], []), launch(0xBEE, [], [])])
    assert caller.call(work(4), [1, 2, 3, 4]) == "hsgen: kernel k3054 says CUDA_ERROR_ILLEGAL_ADDRESS"
    assert caller.call(work(4), [1, 2, 3]) == "hsgen: the custom call has another number of buffers than its work"
    for more in ({"name": b"works"}, {"name": b"werk"}, {"numbers": [1, 2, 3]}):
        assert caller.call(work(4), [1], **more) == "hsgen: the custom call has no numbers of work of this version"
    caller.errors.append("of XLA")
    caller.no_stream = len(caller.errors)
    assert caller.call(work(4), [1, 2, 3, 4]) == "of XLA"


def test_malformed_recipes_are_refused(caller: Caller) -> None:
    for arguments, buffers in ([buffer(5)], 4), ([0] * (MOST + 1), 4), ([buffer(1)], 9):
        with pytest.raises(Wrong, match=r"^the handler does not take the launches$"):
            handler.add(caller.library, work(), CONTEXT, buffers, [launch(1, arguments, [True] * len(arguments))])


def test_other_stages_do_nothing_and_metadata_is_stored(caller: Caller) -> None:
    frame, kept = caller.frame([], [1], STREAM)
    for stage in range(3):
        frame[4] = stage
        assert not caller.library.hs_handler(ctypes.addressof(frame))
    metadata = (ctypes.c_uint64 * 6)(48, 24, 0, 0, 0xFFFFFFFF, 9)
    extension = (ctypes.c_uint64 * 4)(32, 1, 0, ctypes.addressof(metadata))
    frame[1] = ctypes.addressof(extension)
    assert not caller.library.hs_handler(ctypes.addressof(frame))
    assert list(metadata) == [48, 24, 0, 3 << 32, 0, 9] and kept
    assert not caller.records()


def test_threads_do_not_mix_their_arguments(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads with own streams call and prepare at once."""

    def recipe(work: Any, number: int) -> Any:
        numbers = [work.rows] * 20
        return number, 4, [launch(i, [*map(buffer, (1, 2, 3, 4)), *numbers], [True] * 4 + [False] * 20) for i in (1, 2)]

    monkeypatch.setattr(handler, "recipe", recipe)
    calls = [(thread, rows) for thread in range(8) for rows in range(1, 101)]

    def call(thread: int) -> list[str]:
        at = [(thread * 4 + i) << 32 for i in range(4)]
        return [caller.call(work(rows), at, STREAM + thread) for t, rows in calls if t == thread]

    with ThreadPoolExecutor(8) as pool:
        assert not [message for messages in pool.map(call, range(8)) for message in messages if message]
    records = caller.records()
    assert len(records) == 2 * len(calls)
    seen = set()
    for r in records:
        thread = r.stream - STREAM
        assert list(r.arguments[:4]) == [(thread * 4 + i) << 32 for i in range(4)]
        (rows,) = set(r.arguments[4:24])
        seen.add((thread, rows))
    assert seen == set(calls)


def test_the_library_is_built_once(compiler: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = handler.built()
    before = path.stat().st_mtime_ns
    assert handler.built() == path and path.stat().st_mtime_ns == before
    with pytest.raises(Unavailable, match=r"^no NVIDIA driver: libnone\.so\.1 is missing$"):
        handler.loaded(path, "libnone.so.1")
    with pytest.raises(Unavailable, match=r"^no NVIDIA driver: cuStreamGetCtx is missing$"):
        handler.loaded(path, "libc.so.6")
    calls: list[str] = []
    monkeypatch.setattr(handler, "loaded", lambda path, driver: calls.append(driver) or "library")
    monkeypatch.setenv(handler.SWITCH, "python")
    handler.library.cache_clear()
    assert handler.library() is None and not calls  # not selected
    monkeypatch.delenv(handler.SWITCH)
    handler.library.cache_clear()
    assert handler.library() == "library" and calls == [handler.DRIVER]
    monkeypatch.setenv("CC", "no-such-compiler")
    handler.library.cache_clear()
    assert handler.library() is None
    handler.library.cache_clear()


def check_layout(
    compiler: Sequence[str], folder: Path, include: Path, header: str, pairs: dict[tuple[str, str], str], values: Any
) -> None:
    """Compile assertions that fields and constants of handler.c are those of a header."""
    fields = [
        f"_Static_assert(offsetof({ours}, {field.split(':')[0]}) == offsetof({theirs}, {field.split(':')[-1]}), "
        f'"{theirs} {field}");'
        for (ours, theirs), names in pairs.items()
        for field in names.split()
    ]
    numbers = [f'_Static_assert((int){a} == (int){b}, "{b}");' for a, b in values.items()]
    source = folder / "layout.c"
    lines = [f"#include <{header}>", "#include <stddef.h>", f'#include "{handler.SOURCE}"', *fields, *numbers, ""]
    source.write_text("\n".join(lines), encoding="utf-8")
    compiled([compiler[0], "-fPIC"], source, folder / "layout.so", "-std=gnu11", f"-I{include}")


def test_structures_of_launches_are_those_of_the_driver(compiler: list[str], tmp_path: Path) -> None:
    spec = find_spec("nvidia.cu13") if find_spec("nvidia") else None
    include = next((Path(p) / "include" for p in (spec and spec.submodule_search_locations) or []), None)
    if include is None or not (include / "cuda.h").exists():
        pytest.skip("cuda.h is not installed (pip install nvidia-cuda-runtime)")
    pairs = {
        ("launch_config", "CUlaunchConfig"): "grid:gridDimX grid[1]:gridDimY grid[2]:gridDimZ block:blockDimX "
        "block[2]:blockDimZ shared:sharedMemBytes stream:hStream attributes:attrs count:numAttrs",
        ("launch_attribute", "CUlaunchAttribute"): "id value value.set:value.cooperative "
        "value.set:value.programmaticStreamSerializationAllowed",
    }
    values = {
        "LAUNCH_COOPERATIVE": "CU_LAUNCH_ATTRIBUTE_COOPERATIVE",
        "LAUNCH_EARLY": "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION",
        "sizeof(launch_attribute)": "sizeof(CUlaunchAttribute)",
        "sizeof(launch_config)": "sizeof(CUlaunchConfig)",
    }
    check_layout(compiler, tmp_path, include, "cuda.h", pairs, values)


def test_structures_of_calls_are_those_of_jaxlib(compiler: list[str], tmp_path: Path) -> None:
    spec = find_spec("jaxlib")
    if spec is None or spec.origin is None:
        pytest.skip("jaxlib is not installed (pip install jax)")
    include = Path(spec.origin).parent / "include"
    pairs = {
        ("call_frame", "XLA_FFI_CallFrame"): "api context:ctx stage arguments:args results:rets attributes:attrs",
        ("buffers", "XLA_FFI_Args"): "count:size types buffers:args",
        ("buffers ", "XLA_FFI_Rets"): "count:size types buffers:rets",
        ("attributes", "XLA_FFI_Attrs"): "count:size types names values:attrs",
        ("buffer", "XLA_FFI_Buffer"): "type:dtype data",
        ("array", "XLA_FFI_Array"): "type:dtype count:size data",
        ("span", "XLA_FFI_ByteSpan"): "text:ptr length:len",
        ("stream_args", "XLA_FFI_Stream_Get_Args"): "context:ctx stream",
        ("error_args", "XLA_FFI_Error_Create_Args"): "message code:errc",
        ("xla_api", "XLA_FFI_Api"): "api_version create_error:XLA_FFI_Error_Create get_stream:XLA_FFI_Stream_Get",
        ("version", "XLA_FFI_Api_Version"): "major:major_version minor:minor_version",
        ("metadata", "XLA_FFI_Metadata"): "api_version traits",
        ("metadata_extension", "XLA_FFI_Metadata_Extension"): "data:metadata",
        ("extension", "XLA_FFI_Extension_Base"): "type",
    }
    values = {
        "STAGE_EXECUTE": "XLA_FFI_ExecutionStage_EXECUTE",
        "EXTENSION_METADATA": "XLA_FFI_Extension_Metadata",
        "ATTRIBUTE_ARRAY": "XLA_FFI_AttrType_ARRAY",
        "CODE_INTERNAL": "XLA_FFI_Error_Code_INTERNAL",
    }
    check_layout(compiler, tmp_path, include, "xla/ffi/api/c_api.h", pairs, values)
