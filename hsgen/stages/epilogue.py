"""Epilogues: what a user supplies to be done with every sorted key, as a step behind any sort.

A fragment is a Jinja template with a macro `epilogue`, whose arguments it picks by name from `ARGUMENTS`, and which
gives statements in the words of every dialect; docs/guides/epilogue.md is its users' reference.  The step reads the
sorted keys once.  It follows the sort instead of being part of its last pass, since often only the device knows which
pass moves keys last, and since a key in a scattering pass has no neighbours.
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
"""What a fragment can ask for: the place of a key, the key, the one before it, words of its value, words of the report,
a number of the call, the count of keys."""
NAME = sandbox.MACRO
_PLACE = re.compile(sandbox.place("(i|key|before|shift|n|value[0-3])"))
_LENGTH = 1 << 16
_SECONDS = 20  # by the clock on the wall, of which the system's limits allow less in the processor
_HINT = "docs/guides/epilogue.md says what an epilogue looks like"


@dataclass(frozen=True, slots=True, kw_only=True)
class Epilogue:
    """What a fragment says: the arguments of its macro, the words of its report (so many, and so many a key), whether
    it changes keys, and the statements of a call, with places in them for its arguments."""

    arguments: tuple[str, ...]
    report_words: int
    report_words_per_key: int
    changes_keys: bool
    body: str

    @property
    def reports(self) -> bool:
        """Whether it has a report."""
        return "report" in self.arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How sorted keys are dealt to lanes: each of the `work_group` lanes has `rows` keys of a tile, of which each of at
    most `groups` work-groups takes neighbouring ones.  A lane alone (work_group 1) walks from key to key."""

    key: KeyType
    value_words: int
    text: str
    work_group: int
    rows: int
    groups: int

    @property
    def tile(self) -> int:
        """Keys that a work-group handles at once."""
        return self.work_group * self.rows


@cache
def _read(text: str) -> Mapping[str, Any]:
    """What a fragment says of itself, as `hsgen.stages.sandbox` reads it in a process of its own."""
    if len(text) > _LENGTH:
        raise Usage(f"epilogue: has more than {_LENGTH} characters; {_HINT}")
    if not text.isascii() or not all(c.isprintable() or c in "\n\t" for c in text):
        raise Usage(f"epilogue: holds other characters than ASCII, which not every API's compiler reads; {_HINT}")
    if not processes.has_interpreter():
        raise Unavailable("epilogues are rendered by a Python interpreter, which this program cannot start")
    try:
        with folders.scratch() as folder:
            done = processes.run(processes.python(sandbox.__name__), _SECONDS, folder, text)
    except subprocess.TimeoutExpired:
        raise Usage(f"epilogue: is not rendered within {_SECONDS} s; {_HINT}") from None
    except OSError as e:
        raise Unavailable(f"no process can be started that renders epilogues ({e.strerror})") from None
    if done.returncode:
        raise Usage(
            f"epilogue: is not rendered within {sandbox.CPU_SECONDS} s and {sandbox.MEMORY >> 20} MB "
            f"(exit code {done.returncode}); {_HINT}"
        )
    said: dict[str, Any] = json.loads(done.stdout)
    if "error" in said:
        raise Usage(f"epilogue: {said['error']}; {_HINT}")
    return said


@cache
def parsed(text: str) -> Epilogue:
    """Return what a fragment says of itself.

    Raises:
        Usage: it is no template, has no macro `epilogue`, asks for what there is not, or settings that do not fit it;
            rendering it takes more time or memory than there is, or does more than a template may.
    """
    said = _read(text)
    if not said["macro"]:
        raise Usage(f"epilogue: has no macro named {NAME}; {_HINT}")
    body = said["body"]
    if not all(c.isprintable() or c in "\n\t" for c in _PLACE.sub("", body)):
        raise Usage(f"epilogue: gives other characters than printable ones, or parts of its arguments; {_HINT}")
    return _checked(tuple(said["arguments"]), said["settings"], body)


def statements(says: Epilogue, given: Mapping[str, str], value_words: int) -> str:
    """Return the statements of a call with these arguments, for values of so many words."""

    def argument(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("value"):
            at = given["i"] if value_words == 1 else f"{given['i']} * {value_words} + {name.removeprefix('value')}"
            return f"values[{at}]"
        return given[name]

    return _PLACE.sub(argument, says.body)


def _checked(arguments: tuple[str, ...], numbers: Mapping[str, Any], body: str) -> Epilogue:
    """What a fragment says, once its arguments and settings are found right."""
    for name in arguments:
        if name not in ARGUMENTS:
            raise Usage(f"epilogue: asks for {name}; an epilogue gets {', '.join(ARGUMENTS)}")
    for word in sandbox.SETTINGS[:2]:
        if type(numbers[word]) is not int or not 0 <= numbers[word] < 2**31:
            raise Usage(f"epilogue: {word} is {numbers[word]}; give a number from 0 to {2**31 - 1}")
    told = bool(numbers["report_words"] or numbers["report_words_per_key"])
    if told != ("report" in arguments):
        what = "asks for report" if not told else "has a report that its macro does not ask for"
        raise Usage(f"epilogue: {what}; set report_words or report_words_per_key along with the argument report")
    if numbers["changes_keys"] and "before" in arguments:
        raise Usage("epilogue: changes keys and asks for before, which others change meanwhile; leave out one of them")
    return Epilogue(
        arguments=arguments,
        report_words=numbers["report_words"],
        report_words_per_key=numbers["report_words_per_key"],
        changes_keys=bool(numbers["changes_keys"]),
        body=body,
    )


def fit(signature: Signature, other: str) -> None:
    """Refuse what has no epilogue: `other`, the name of what is no sort, if it is none, counts on the device, and
    reports of where keys change.  A fragment that asks for values needs them.

    Raises:
        Usage: such a form has an epilogue, or the fragment is wrong.
    """
    if not signature.epilogue:
        return
    found = parsed(signature.epilogue)
    if signature.device_count or other:
        what = "a count on the device" if signature.device_count else other
        raise Usage(f"epilogue: does not go with {what}; leave out one of them")
    if signature.run_boundaries:
        raise Usage("epilogue: does not go with feature changes, which tells its report itself; leave out one of them")
    if "value" in found.arguments and not signature.value_bytes:
        raise Usage("epilogue: asks for value, and nothing is sorted along with keys; give --value")


def shape(key: KeyType, signature: Signature, device: Device) -> Shape:
    """Return how keys are dealt to lanes on a device: to a few lanes alone on one that keeps local memory in memory."""
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
    kernels: tuple[Kernel, ...], plan: Plan, parts: tuple[Part, ...], made: Shape
) -> tuple[tuple[Kernel, ...], Plan]:
    """Return the kernels and the plan of a sort with the step that calls the epilogue behind them."""
    says = parsed(made.text)
    buffers = [Buffer(name="keys", read_only=not says.changes_keys)]
    roles = ["destination"]
    if "value" in says.arguments:
        buffers.append(Buffer(name="values", type="u32", unit="value", read_only=True))
        roles.append("values_out")
    if says.reports:
        buffers.append(Buffer(name="report", type="u32"))
        roles.append("report")
    kernel = Kernel(
        name=NAME,
        template="stages/epilogue/rows",
        summary="what was supplied to be done with every sorted key",
        work_group=made.work_group,
        buffers=tuple(buffers),
        algorithm=parts[0].algorithm,
        params=parts[0].params,
        data=made,
    )
    step = Step(
        kernel=NAME,
        bindings=tuple(Binding(role=role) for role in roles),
        guard=Guard(max_n=plan.max_n),
        grid=Grid(add=made.tile - 1, div=made.tile, cap=made.groups),
        argument=CallNumber(),
    )
    return (*kernels, kernel), replace(plan, steps=(*plan.steps, step))


def moved(made: Shape, n: int) -> int:
    """Return the bytes that the step reads and writes for `n` keys, but for what its report takes."""
    says = parsed(made.text)
    values = 4 * made.value_words if "value" in says.arguments else 0
    return n * (made.key.bytes * (2 if says.changes_keys else 1) + values)
