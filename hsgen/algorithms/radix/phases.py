"""The variants of the phases of kernels, as names of templates; the builder of a kernel chooses the variants."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.radix.parts import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Body):
    """The variants of the phases of a pass with look-back, as names of templates.

    progress: the variant for devices with, or without, guaranteed forward progress.  The variant determines how a
    work-group draws a tile, and how long a look-back waits.
    launch: the variant for passes of one launch, or of several launches.
    scatter: the variant that stores keys and values.
    """

    progress: str
    launch: str
    scatter: str = "radix/scatter.j2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Body):
    """The variants of the phases of the histogram of all passes, as names of templates.

    launch: the variant for passes of one launch, or of several launches.
    order_check: the variant that checks whether the keys are in order already, or that checks nothing.
    sample: the variant in which one more work-group compares a sample of the keys, or in which there is no sample.
    """

    launch: str
    order_check: str
    sample: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Body):
    """The variants of the phases of a pass by reduce-scan, as names of templates.

    order_check: the variant that checks whether the keys are in order already, or that checks nothing.
    rounds: the variant in which a work-group counts its keys tile by tile, or key by key.
    buffers: the variant that determines which buffers a pass reads and writes.
    held: whether a lane loads all of its values before its keys are ranked; always false in compact kernels.
    """

    order_check: str
    rounds: str
    buffers: str
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Body):
    """The variants of the phases of a scan, as names of templates.

    order_check: the variant that evaluates the check whether the keys are in order already, or that does nothing.
    """

    order_check: str
