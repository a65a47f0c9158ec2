"""Epilogues: code of the user that a step after any sort applies to every sorted key.

A fragment is a Jinja template with a macro `epilogue`, which takes a selection of `ARGUMENTS` by name and expands to
statements in the words of all dialects; docs/guides/epilogue.md is the reference for users.  The step reads the sorted
keys once.  It is not part of the last pass of the sort, since often only the device knows which pass moves keys last,
and since adjacent sorted keys are not available in a scattering pass.
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
"""The possible arguments: the index of a key, the key, the preceding key, words of its value, words of the report, the
second number of the call, the count of keys."""
NAME = sandbox.MACRO
_PLACE = re.compile(sandbox.place("(i|key|before|shift|n|value[0-3])"))
_LENGTH = 1 << 16
_SECONDS = 20  # of wall-clock time; the limit of processor time is lower
_HINT = "docs/guides/epilogue.md describes epilogues"


@dataclass(frozen=True, slots=True, kw_only=True)
class Epilogue:
    """A parsed fragment: the arguments of its macro, the size of its report (32-bit words, and words per key), whether
    it changes keys, and the statements of a call, with placeholders for its arguments."""

    arguments: tuple[str, ...]
    report_words: int
    report_words_per_key: int
    changes_keys: bool
    body: str

    @property
    def reports(self) -> bool:
        """Whether it writes a report."""
        return "report" in self.arguments

    def uses(self, argument: str) -> bool:
        """Return whether the statements contain an argument; compilers warn of variables that nothing uses."""
        return any(found[1] == argument for found in _PLACE.finditer(self.body))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The distribution of sorted keys: each of `work_group` lanes has `rows` keys of a tile, and each of at most
    `groups` work-groups has consecutive tiles.  A sequential lane (work_group 1) iterates over its keys."""

    key: KeyType
    value_words: int
    text: str
    work_group: int
    rows: int
    groups: int

    @property
    def tile(self) -> int:
        """The keys that a work-group handles at once."""
        return self.work_group * self.rows


@cache
def _read(text: str) -> Mapping[str, Any]:
    """A fragment as `hsgen.stages.sandbox` reads it in a separate process."""
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
    said: dict[str, Any] = json.loads(done.stdout)
    if "error" in said:
        raise Usage(f"epilogue: {said['error']}; {_HINT}")
    return said


@cache
def parsed(text: str) -> Epilogue:
    """Return the epilogue of a fragment.

    Raises:
        Usage: the fragment is not a valid template, has no macro `epilogue`, takes an unknown argument or has invalid
            settings; rendering exceeds a limit of time or memory, or does what the sandbox does not permit.
        Unavailable: no process can be started that renders it.
    """
    said = _read(text)
    if not said["macro"]:
        raise Usage(f"epilogue: has no macro named {NAME}; {_HINT}")
    body = said["body"]
    if not all(c.isprintable() or c in "\n\t" for c in _PLACE.sub("", body)):
        raise Usage(f"epilogue: its output contains unprintable characters, or parts of its arguments; {_HINT}")
    return _checked(tuple(said["arguments"]), said["settings"], body)


def statements(says: Epilogue, given: Mapping[str, str], value_words: int) -> str:
    """Return the statements of a call with the arguments `given`, for values of `value_words` 32-bit words."""

    def argument(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("value"):
            at = given["i"] if value_words == 1 else f"{given['i']} * {value_words} + {name.removeprefix('value')}"
            return f"values[{at}]"
        return given[name]

    return _PLACE.sub(argument, says.body)


def _checked(arguments: tuple[str, ...], numbers: Mapping[str, Any], body: str) -> Epilogue:
    """The epilogue, if its arguments and settings are valid."""
    for name in arguments:
        if name not in ARGUMENTS:
            raise Usage(f"epilogue: unknown argument {name}; the arguments are {', '.join(ARGUMENTS)}")
    for word in sandbox.SETTINGS[:2]:
        if type(numbers[word]) is not int or not 0 <= numbers[word] < 2**31:
            raise Usage(f"epilogue: {word} is {numbers[word]}; give an integer from 0 to {2**31 - 1}")
    sized = bool(numbers["report_words"] or numbers["report_words_per_key"])
    if sized != ("report" in arguments):
        what = "argument report without a size" if not sized else "a size of the report without the argument report"
        raise Usage(f"epilogue: {what}; set report_words or report_words_per_key, and take the argument report")
    if numbers["changes_keys"] and "before" in arguments:
        raise Usage("epilogue: changes keys, so that the argument before may be changed already; omit one of them")
    return Epilogue(
        arguments=arguments,
        report_words=numbers["report_words"],
        report_words_per_key=numbers["report_words_per_key"],
        changes_keys=bool(numbers["changes_keys"]),
        body=body,
    )


def fit(signature: Signature, other: str) -> None:
    """Refuse an epilogue for an operation `other` than sort ("" for sort), for a device-side count or run boundaries.

    Raises:
        Usage: the signature has an epilogue that is not supported or invalid, or that takes values without any.
    """
    if not signature.epilogue:
        return
    found = parsed(signature.epilogue)
    if signature.device_count or other:
        what = "a device-side count" if signature.device_count else other
        raise Usage(f"epilogue: cannot be combined with {what}; omit one of them")
    if signature.run_boundaries:
        raise Usage(
            "epilogue: cannot be combined with feature run-boundaries, which has its own report; omit one of them"
        )
    if "value" in found.arguments and not signature.value_bytes:
        raise Usage("epilogue: takes the argument value, but the sort has no values; give --value")


def shape(key: KeyType, signature: Signature, device: Device) -> Shape:
    """Return the distribution of keys on a device: to a few sequential lanes if local memory is ordinary memory."""
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
    """Return the kernels and the plan of a sort, followed by the step that calls the epilogue."""
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
        template=f"stages/epilogue:{'serial' if made.work_group == 1 else 'tiles'}",
        summary="apply the epilogue to every sorted key",
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
    """Return the memory traffic of the step for `n` keys, in bytes, without that of its report."""
    says = parsed(made.text)
    values = 4 * made.value_words if "value" in says.arguments else 0
    return n * (made.key.bytes * (2 if says.changes_keys else 1) + values)
