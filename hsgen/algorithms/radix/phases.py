"""The choice of code for the phases of a kernel, such as ranking and scattering: one class for each kernel template.

A field is a phase, and its value names the template, or the set of macros, that implements the phase
(`hsgen.core.kernels.VARIANT`).  The function that builds a kernel chooses the values.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.radix.parts import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Body):
    """The variants of the kernel of a pass with look-back.

    progress: how a work-group draws tiles, and how long a look-back waits.  There is a variant for devices with
    guaranteed forward progress, and one for devices without.
    launch: whether a pass is one launch, or one launch for each portion of the tiles.
    scatter: how keys and values are stored.
    """

    progress: str
    launch: str
    scatter: str = "radix/scatter.j2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Body):
    """The variants of the kernel that counts the digits of all passes.

    launch: as in `Sweep`.  The kernel clears the states that tiles will publish; portions need fewer states.
    order_check: whether the kernel also checks if the keys are in order already.
    sample: whether an additional work-group compares the keys of a sample.
    """

    launch: str
    order_check: str
    sample: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Body):
    """The variants of the kernels of a pass by reduce-scan.

    order_check: whether the first pass checks if the keys are in order already.
    rounds: whether a lane loads all of its keys in a tile before it counts them, or loads and counts key by key.
    buffers: how a kernel computes which buffers its pass reads and writes.
    held: not a phase: whether a lane loads all of its values before its keys are ranked.  False in compact kernels.
    """

    order_check: str
    rounds: str
    buffers: str
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Body):
    """The variants of the kernel of per-thread sorts that scans the table of counts.

    order_check: whether the kernel combines the results of the check if the keys are in order already.
    """

    order_check: str
