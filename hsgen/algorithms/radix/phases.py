"""Variants of the phases of kernels, as templates: builders of kernels choose them, kernel templates import them."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.radix.parts import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep(Body):
    """The variants of the phases of a pass, as templates.

    progress: how tiles are drawn, and how long a look-back waits.  launch: whether a pass has several launches.
    scatter: how keys and values are stored.
    """

    progress: str
    launch: str
    scatter: str = "radix/scatter.j2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Body):
    """The variants of the phases of a histogram, as templates: the launches of a pass, and what else is found out."""

    launch: str
    order_check: str
    sample: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Body):
    """The variants of the phases of a counted pass, as templates.

    order_check: what looks for keys in order.  rounds: how a work-group counts its keys.  buffers: how a pass knows
    where its keys go.  held: all values of a lane are loaded before its keys are ranked; compact kernels do not.
    """

    order_check: str
    rounds: str
    buffers: str
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Body):
    """The variants of the phases of a scan, as templates: what looks for keys in order."""

    order_check: str
