"""The topics of ``hsgen help``, in Markdown; docs/reference/cli.md has the same texts."""

from __future__ import annotations

_KEYS = """\
Four options choose sorts within a target. `--key`, `--value` and `--feature` may be repeated; each combination of a
width of keys and a kind of values is one sort.

| option | word | means |
|---|---|---|
| `--key` | `u8` `u16` `u32` `u64` | unsigned integers; by default the widths that the target has tables for |
| | `i8` `i16` `i32` `i64` | signed integers |
| | `f16` `bf16` `f32` `f64` | floats, in the total order of IEEE 754: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN |
| | `bool` | bytes, 0 before 1: sorted as `u8` |
| `--value` | `none` | keys alone; the default |
| | `v4` `v8` `v16` | a value of 4, 8 or 16 bytes moves with each key |
| | `index` `index64` | the index of each key, as an integer of 4 or 8 bytes (an argsort) |
| | `packed` | 64-bit words with the key in the upper half and a value in the lower half |
| `--order` | `ascending` | the default |
| | `descending` `both` | one sort that supports either order |
| `--feature` | `bit-range` | each call chooses the bits to sort by |
| | `device-count` | each call takes the number of keys from device memory |
| | `run-boundaries` | each call reports where runs of equal keys start |
| | `segment-ends` | segmented sorts take the start and the end of each segment, which need not adjoin |
| | `segment-count` | segmented sorts take the number of segments from device memory |
| | `row-lengths` | selections take the length of each row from device memory |
| | `row-starts` | selections also take the start of each row |
| | `row-takes` | selections take the number of keys to take of each row from device memory |
| | `row-count` | selections take the number of rows from device memory |
| | `value-starts` | selections take the index of the first value of each row from device memory |
"""

_SIZES = """\
A count is a number (`1000`) or a power of two (`2^20`). `--sizes` and `--segments` take a list of counts and ranges,
separated by commas, without spaces:

| item | stands for |
|---|---|
| `1000` | 1000 |
| `2^16` | 65536 |
| `2^10..2^12` | the powers of two from the first to the last: 1024, 2048, 4096 |
| `2^10..2^12:2` | two counts per doubling, evenly spaced: 1024, 1448, 2048, 2896, 4096 |
| `2^10+-1` | a count and its neighbours: 1023, 1024, 1025 |

Counts are measured in the order of the list, each once. `--bits 0..16` names the first bit and the end, exclusive.
"""

_TARGETS = """\
A target describes a family of devices and the shapes of their kernels. `-t` takes the name of a target that comes with
hsgen, which `hsgen targets` lists, or the path of a file that ends in `.toml`. The name of a file's target is the name
of the file without `.toml`. `validate` and `bench` without `-t` use the target that matches the device best, which
`hsgen doctor` lists with each device.

`--algorithm` names a sort of the target by the algorithm, or by a variant such as `radix-bits2`. `auto`, the default,
is the sort for any count, which consists of several algorithms. `hsgen show TARGET` lists all of them.

For a device without a target, `hsgen probe` writes a file, `hsgen suggest` prints first shapes, `hsgen validate` tests
the sorts, and `hsgen tune` finds better shapes.
"""

_DEVICES = """\
`--device` takes a part of a device's name in upper or lower case, or `PLATFORM/DEVICE` with a part of each name. A
suffix `#2` names the second device of the same name. `hsgen doctor` lists the devices with their full names.

Without `--device`, a command uses a device that the target matches, else a GPU, else a CPU. It reports
its choice on stderr if there were others.
"""

_EXIT_CODES = """\
| exit code | means |
|---|---|
| 0 | success |
| 1 | a negative result: stale or changed files, a wrong sort, a kernel that does not build |
| 2 | wrong usage or configuration: a name, a file, a shape, a folder |
| 3 | no answer on this machine: no device, no compiler, a missing capability; `--require` turns it into 1 |
| 129, 130, 143 | ended by SIGHUP, SIGINT, SIGTERM; nothing temporary is left; `tune` prints how to resume |

Results are printed on stdout. Errors are lines on stderr that start with `hsgen:` and name the place, the problem and
the remedy.
"""

_ENVIRONMENT = """\
| variable | means |
|---|---|
| `HSGEN_GLSL` | the GLSL compiler: `glslangValidator`, `glslang` or `glslc`, with its folder or without; empty: none |
| `HSGEN_DXC` | the HLSL compiler: `dxc`, or its library `libdxcompiler.so`; empty: none |
| `HSGEN_CCCL` | the folder of CUB's headers, as `bench --cccl` |
| `HSGEN_PEER_SOURCE` | the folder of the sources of a baseline, as `bench --peer-source` |
| `HSGEN_TRIAL` | `0`: the Python API compiles kernels without a trial in another process |
| `HSGEN_OPTIMIZE` | `0`: the Python API for OpenCL and `validate` compile kernels without optimization |
| `HSGEN_BACKGROUND` | `0`: first calls of Python functions wait for compilations, which no thread does meanwhile |
| `HSGEN_JAX_HANDLER` | `python`: `hsgen.jax` launches kernels from Python, not from C |
| `HSGEN_LOGS` | the folder for the logs of compilers that refuse a kernel; by default that of temporary files |
| `CC`, `CXX` | the C and the C++ compiler |
| `PATH` | where compilers and tools are found; relative entries are ignored |
| `XDG_CACHE_HOME` | the folder for caches, if it is absolute; by default `~/.cache` |
| `NO_COLOR` | any text: no colours |
| `TERM` | `dumb`: no colours and no progress bars |
| `COLUMNS` | the width of the terminal |

Where stdout is no terminal, tables are plain text, one row a line. Where stderr is no terminal, long commands print a
line after 30 seconds, a minute, two minutes and so on, in place of a progress bar.
"""

TOPICS = {
    "keys": ("Keys, values, orders, features", _KEYS),
    "sizes": ("Counts and lists of counts", _SIZES),
    "targets": ("Targets and algorithms", _TARGETS),
    "devices": ("Names of devices", _DEVICES),
    "exit-codes": ("Exit codes", _EXIT_CODES),
    "environment": ("Environment variables", _ENVIRONMENT),
}
"""The title and the text of each topic."""
