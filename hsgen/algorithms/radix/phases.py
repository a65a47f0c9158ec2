"""Variants of the phases of kernels, as names of templates: the builder of a kernel chooses them."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.radix.parts import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Body):
    """The variants of the phases of a pass with look-back, as names of templates.

    progress: how a work-group draws a tile, and how long a look-back waits.
    launch: whether a pass has several launches.
    scatter: how keys and values are stored.
    """

    progress: str
    launch: str
    scatter: str = "radix/scatter.j2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Body):
    """The variants of the phases of the histogram of all passes, as names of templates.

    launch: whether a pass has several launches.
    order_check: the check for keys in order.
    sample: whether one more work-group compares a sample of the keys.
    """

    launch: str
    order_check: str
    sample: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Body):
    """The variants of the phases of a pass by reduce-scan, as names of templates.

    order_check: the check for keys in order.
    rounds: how a work-group counts its keys.
    buffers: how the pass determines the buffers of its keys.
    held: true if a lane loads all of its values before its keys are ranked; always false in compact kernels.
    """

    order_check: str
    rounds: str
    buffers: str
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Body):
    """The variants of the phases of a scan, as names of templates.

    order_check: the check for keys in order.
    """

    order_check: str
