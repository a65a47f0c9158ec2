"""Epilogues.  An epilogue is user code that an additional launch after a sort applies to every sorted key.

The user passes a *fragment*, a Jinja template with a macro `epilogue`.  The names of the macro's parameters are some of
`ARGUMENTS`.  The macro expands to statements that every kernel language supports (docs/guides/epilogue.md).  The launch
reads the sorted keys once.

An epilogue has a launch of its own, because it cannot run in the last pass of a sort.  Often only the device knows
which pass is last.  Besides, a work-group that scatters keys does not know which key precedes a key in sorted order.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from hsgen.core.buffers import Buffer
from hsgen.core.device import Device
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Binding, CallNumber, Grid, Guard, Plan, Step
from hsgen.core.sort import Part
from hsgen.stages import sandbox
from hsgen.system import folders, processes

ARGUMENTS = ("i", "key", "before", "value", "report", "shift", "n")
"""The arguments that a fragment's macro may take.

i: the index of the key in sorted order.
key: the key.
before: the preceding key in sorted order.
value: a function that gives a 32-bit word of the key's value.
report: a function that gives a 32-bit word of the report, a buffer for the results of the epilogue.
shift: the number that a caller passes as `shift` (`Options.shift`).
n: the count.
"""
NAME = sandbox.MACRO
_PLACE = re.compile(sandbox.place("(i|key|before|shift|n|value[0-3])"))
_LENGTH = 1 << 16
_SECONDS = 20  # the limit of wall-clock time; the limit of processor time is `sandbox.CPU_SECONDS`
_HINT = "docs/guides/epilogue.md describes epilogues"


@dataclass(frozen=True, slots=True, kw_only=True)
class Epilogue:
    """A parsed fragment.

    arguments: the names of the arguments that the macro takes.
    report_words, report_words_per_key: for n keys, the report has report_words + report_words_per_key * n 32-bit words.
    changes_keys: whether the statements may change keys.
    body: the statements to which the macro expands, with placeholders for the arguments.
    """

    arguments: tuple[str, ...]
    report_words: int
    report_words_per_key: int
    changes_keys: bool
    body: str

    @property
    def reports(self) -> bool:
        """Whether the epilogue writes a report."""
        return "report" in self.arguments

    def uses(self, argument: str) -> bool:
        """Whether the statements use an argument.

        Kernels define no variables for the other arguments, because compilers warn of unused variables.
        """
        return any(match[1] == argument for match in _PLACE.finditer(self.body))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The parameters of the epilogue's kernel: how it distributes the sorted keys over work-groups, and the fragment.

    value_words: the number of 32-bit words in a value.
    text: the text of the fragment.
    work_group: the number of lanes in a work-group.  If it is 1, the lane iterates over its keys.
    rows: the number of keys of a tile that each lane processes.
    groups: the greatest number of work-groups.  Each work-group processes consecutive tiles.
    """

    key: KeyType
    value_words: int
    text: str
    work_group: int
    rows: int
    groups: int

    @property
    def tile(self) -> int:
        """The number of keys that a work-group processes at once."""
        return self.work_group * self.rows


@cache
def _read(text: str) -> Mapping[str, Any]:
    """Render a fragment by `hsgen.stages.sandbox` in a separate process, and return the answer of that process."""
    if len(text) > _LENGTH:
        raise Usage(f"epilogue: more than {_LENGTH} characters; {_HINT}")
    if not text.isascii() or not all(c.isprintable() or c in "\n\t" for c in text):
        raise Usage(f"epilogue: contains non-ASCII characters, which some compilers reject; {_HINT}")
    if not processes.has_interpreter():
        raise Unavailable("epilogues require a Python interpreter, which this program cannot start")
    try:
        with folders.scratch() as folder:
            done = processes.run(processes.python(sandbox.__name__), _SECONDS, folder, text)
    except subprocess.TimeoutExpired:
        raise Usage(f"epilogue: rendering takes more than {_SECONDS} s; {_HINT}") from None
    except OSError as e:
        raise Unavailable(f"the process that renders epilogues cannot be started ({e.strerror})") from None
    if done.returncode:
        raise Usage(
            f"epilogue: rendering takes more than {sandbox.CPU_SECONDS} s or {sandbox.MEMORY >> 20} MB "
            f"(exit code {done.returncode}); {_HINT}"
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        raise Usage(f"epilogue: {answer['error']}; {_HINT}")
    return answer


@cache
def parsed(text: str) -> Epilogue:
    """Return the epilogue of a fragment.

    Raises:
        Usage: the fragment is not a valid template or has no macro `epilogue`; the macro takes an unknown argument; the
            settings are invalid; rendering exceeds a limit of time or memory, or performs a forbidden operation.
        Unavailable: the process that renders the fragment cannot start.
    """
    answer = _read(text)
    if not answer["macro"]:
        raise Usage(f"epilogue: has no macro named {NAME}; {_HINT}")
    body = answer["body"]
    if not all(c.isprintable() or c in "\n\t" for c in _PLACE.sub("", body)):
        raise Usage(f"epilogue: its output contains unprintable characters, or parts of its arguments; {_HINT}")
    return _checked(tuple(answer["arguments"]), answer["settings"], body)


def statements(epilogue: Epilogue, values: Mapping[str, str], value_words: int) -> str:
    """Return the statements of an epilogue with expressions in place of the placeholders.

    values: the expression for each argument.
    value_words: the number of 32-bit words in a value.
    """

    def argument(match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith("value"):
            at = values["i"] if value_words == 1 else f"{values['i']} * {value_words} + {name.removeprefix('value')}"
            return f"values[{at}]"
        return values[name]

    return _PLACE.sub(argument, epilogue.body)


def _checked(arguments: tuple[str, ...], numbers: Mapping[str, Any], body: str) -> Epilogue:
    """Return an epilogue with these arguments and settings; raise `Usage` if they are invalid.

    numbers: the values of `hsgen.stages.sandbox.SETTINGS`.
    """
    for name in arguments:
        if name not in ARGUMENTS:
            raise Usage(f"epilogue: unknown argument {name}; the arguments are {', '.join(ARGUMENTS)}")
    for word in sandbox.SETTINGS[:2]:
        if type(numbers[word]) is not int or not 0 <= numbers[word] < 2**31:
            raise Usage(f"epilogue: {word} is {numbers[word]}; give an integer from 0 to {2**31 - 1}")
    sized = bool(numbers["report_words"] or numbers["report_words_per_key"])
    if sized != ("report" in arguments):
        mismatch = "argument report without a size" if not sized else "a size of the report without the argument report"
        raise Usage(f"epilogue: {mismatch}; set report_words or report_words_per_key, and take the argument report")
    if numbers["changes_keys"] and "before" in arguments:
        raise Usage("epilogue: changes keys, so that the argument before may be changed already; omit one of them")
    return Epilogue(
        arguments=arguments,
        report_words=numbers["report_words"],
        report_words_per_key=numbers["report_words_per_key"],
        changes_keys=bool(numbers["changes_keys"]),
        body=body,
    )


def fit(signature: Signature, operation: str) -> None:
    """Check that the epilogue of a signature is valid, and that the operation supports it.

    Without an epilogue, nothing is checked.
    operation: "" for a sort, otherwise the name of the operation.

    Raises:
        Usage: the epilogue is invalid, or is for an operation other than sort; the signature has a device-side count
            or run boundaries; the epilogue takes the argument value but the sort has no values.
    """
    if not signature.epilogue:
        return
    epilogue = parsed(signature.epilogue)
    if signature.device_count or operation:
        conflict = "a device-side count" if signature.device_count else operation
        raise Usage(f"epilogue: cannot be combined with {conflict}; omit one of them")
    if signature.run_boundaries:
        raise Usage(
            "epilogue: cannot be combined with feature run-boundaries, which has its own report; omit one of them"
        )
    if "value" in epilogue.arguments and not signature.value_bytes:
        raise Usage("epilogue: takes the argument value, but the sort has no values; give --value")


def shape(key: KeyType, signature: Signature, device: Device) -> Shape:
    """Return the parameters of the epilogue's kernel.

    If the device's local memory lies in ordinary memory, as on CPUs, there are at most 8 work-groups of one lane.
    """
    serial = device.local == "memory"
    lanes = 1 if serial else 1 << min(256, device.work_group).bit_length() - 1
    return Shape(
        key=key,
        value_words=signature.value_bytes // 4,
        text=signature.epilogue,
        work_group=lanes,
        rows=4096 if serial else 8,
        groups=8 if serial else 2048,
    )


def appended(
    kernels: tuple[Kernel, ...], plan: Plan, parts: tuple[Part, ...], tiling: Shape
) -> tuple[tuple[Kernel, ...], Plan]:
    """Append an epilogue to a sort; return the kernels and the plan of both."""
    epilogue = parsed(tiling.text)
    buffers = [Buffer(name="keys", read_only=not epilogue.changes_keys)]
    roles = ["destination"]
    if "value" in epilogue.arguments:
        buffers.append(Buffer(name="values", type="u32", unit="value", read_only=True))
        roles.append("values_out")
    if epilogue.reports:
        buffers.append(Buffer(name="report", type="u32"))
        roles.append("report")
    kernel = Kernel(
        name=NAME,
        template=f"stages/epilogue:{'serial' if tiling.work_group == 1 else 'tiles'}",
        summary="apply the epilogue to every sorted key",
        work_group=tiling.work_group,
        buffers=tuple(buffers),
        algorithm=parts[0].algorithm,
        params=parts[0].params,
        data=tiling,
    )
    step = Step(
        kernel=NAME,
        bindings=tuple(Binding(role=role) for role in roles),
        guard=Guard(max_n=plan.max_n),
        grid=Grid(add=tiling.tile - 1, div=tiling.tile, cap=tiling.groups),
        argument=CallNumber(),
    )
    return (*kernels, kernel), replace(plan, steps=(*plan.steps, step))


def moved(tiling: Shape, n: int) -> int:
    """Return the number of bytes of keys and values that the launch reads and writes for `n` keys."""
    epilogue = parsed(tiling.text)
    values = 4 * tiling.value_words if "value" in epilogue.arguments else 0
    return n * (tiling.key.bytes * (2 if epilogue.changes_keys else 1) + values)
