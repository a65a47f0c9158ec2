"""Texts of the help: summaries and headings of commands, headings of their options, and examples."""

from __future__ import annotations

REST = "*"
"""Stands for all options or commands that no heading lists."""

Sections = tuple[tuple[str, tuple[str, ...]], ...]
"""Headings in order, each with its options or commands."""

_SORTS = ("--target", "--key", "--value", "--order", "--feature", "--epilogue", "--algorithm")
_DEVICE = ("--device", "--api", "--runtime", "--option", "--bundle", "--require")
_OUTPUT = ("--json", "--csv", "--plot", "--markdown", "--all", "--help")

SUMMARIES = {
    "targets": "List the targets and the evidence for each.",
    "show": "Print parameters, kernels and launch plans of a target.",
    "generate": "Write kernels, plans and C files of targets into a bundle.",
    "check": "Compare a bundle with what hsgen generates today.",
    "verify": "Verify that a bundle's files match its manifest.",
    "compile": "Compile kernels offline; list registers and spills.",
    "validate": "Compare many sorts on a device with numpy.",
    "bench": "Measure sorts, baselines and a plain copy in one run.",
    "suggest": "Print first shapes for a target, from its facts.",
    "probe": "Write a new target file for a device.",
    "tune": "Find a target's shapes and crossovers on a device.",
    "report": "Write an HTML page about a target or a bundle.",
    "doctor": "List devices and tools on this machine.",
    "cache": "Compile kernels ahead of first calls from Python.",
    "help": "Explain a topic, such as keys or exit-codes, or a command.",
}
"""The commands with a line about each; command NAME is the function NAME in `hsgen.cli.NAME`."""

COMMANDS: Sections = (
    ("Bundles of kernels", ("generate", "check", "verify")),
    ("Kernels and sorts", ("validate", "bench", "compile")),
    ("Targets", ("targets", "show", "probe", "suggest", "tune", "report")),
    ("This machine, and help", (REST,)),
)

OPTIONS: dict[str, Sections] = {
    "generate": (
        ("Sorts", (*_SORTS, "--api")),
        ("Bundle", (REST,)),
        ("Output", ("--dry-run", *_OUTPUT)),
    ),
    "validate": (
        ("Sorts", _SORTS),
        ("Device", _DEVICE),
        ("Cases", (REST,)),
        ("Output", ("--record", *_OUTPUT)),
    ),
    "bench": (
        ("Sorts", (*_SORTS, "--bits")),
        ("Device", _DEVICE),
        ("Measurement", (REST,)),
        ("Output", _OUTPUT),
    ),
    "compile": (
        ("Sorts", _SORTS),
        ("Compilers and devices", (REST,)),
        ("Evidence", ("--budget", "--write-budget", "--record")),
        ("Output", _OUTPUT),
    ),
    "tune": (
        ("Target", ("--target", "--key", "--algorithm")),
        ("Device", (*_DEVICE, "--dask")),
        ("Search", (REST,)),
        ("Output", ("--write", *_OUTPUT)),
    ),
}

EXAMPLES = {
    "targets": ("hsgen targets --json",),
    "show": ("hsgen show cpu --key u32 --plan 2^20",),
    "generate": (
        "hsgen generate -t intel-gen8 -t generic -o generated",
        "hsgen generate -t cpu --key f32 --value v4 --feature bit-range",
    ),
    "check": ("hsgen check generated --diff",),
    "verify": ("hsgen verify generated",),
    "compile": ("hsgen compile -t nvidia-sm90 --key u32 --compiler cuda",),
    "validate": (
        "hsgen validate -t cpu --device 'Intel(R) OpenCL'",
        "hsgen validate -t cpu --key u32 --large 2^28",
    ),
    "bench": (
        "hsgen bench -t cpu --key u32 --sizes 2^10..2^24 --against numpy,vqsort",
        "hsgen bench -t cpu --value v4 --sizes 2^16,2^20 --csv",
    ),
    "suggest": ("hsgen suggest -t my-gpu.toml",),
    "probe": ("hsgen probe --api opencl -o my-gpu.toml",),
    "tune": ("hsgen tune -t my-gpu.toml --key u32 --budget 30m --write",),
    "report": ("hsgen report -t cpu -o cpu.html",),
    "doctor": ("hsgen doctor",),
    "cache": ("hsgen cache warm --key f32 --key i32", "hsgen cache warm --arch sm_90 --call topk"),
    "help": ("hsgen help keys",),
}
