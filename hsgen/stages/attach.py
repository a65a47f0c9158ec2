"""Appending stages to sorts: steps that report run boundaries, or that call an epilogue."""

from __future__ import annotations

from hsgen import operations
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Plan
from hsgen.core.sort import Part, Sort
from hsgen.stages import epilogue, run_boundaries


def fit(signature: Signature, other: str) -> None:
    """Refuse signatures with stages that are not supported; `other` names an operation other than sort, else "".

    Raises:
        Usage: such a signature reports run boundaries or has an epilogue; or the epilogue is invalid.
    """
    run_boundaries.fit(signature, other)
    epilogue.fit(signature, other)


def followed(
    kernels: tuple[Kernel, ...], plan: Plan, parts: tuple[Part, ...], key: KeyType, signature: Signature, device: Device
) -> tuple[tuple[Kernel, ...], Plan]:
    """Return the kernels and the plan of a sort, extended by those of its stage, if it has one."""
    if signature.run_boundaries:
        return run_boundaries.appended(kernels, plan, parts, run_boundaries.shape(key, signature, device))
    if signature.epilogue:
        return epilogue.appended(kernels, plan, parts, epilogue.shape(key, signature, device))
    return kernels, plan


def report_words(sort: Sort) -> tuple[int, int]:
    """Return the size of the report: 32-bit words, and words per key; (0, 0) without a report."""
    always = operations.of(sort).report
    if always != (0, 0):
        return always
    if sort.signature.run_boundaries:
        return 1, 1
    says = epilogue.parsed(sort.signature.epilogue) if sort.signature.epilogue else None
    return (says.report_words, says.report_words_per_key) if says else (0, 0)


def report_length(sort: Sort, n: int) -> int:
    """Return the size of the report of `n` keys in 32-bit words; 0 without a report."""
    words, words_per_key = report_words(sort)
    return words + words_per_key * n
