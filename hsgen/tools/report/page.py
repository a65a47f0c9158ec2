"""Renders the HTML page of a report; it has a part for each target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from hsgen import __version__, operations
from hsgen.algorithms import EVERY
from hsgen.apis import APIS
from hsgen.core import quantities
from hsgen.core.keys import described
from hsgen.core.sort import Sort
from hsgen.emit.kernels import template_errors
from hsgen.operations.base import Operation
from hsgen.system import resources
from hsgen.targets.target import AUTO, Target
from hsgen.tools.bench.rows import candidate
from hsgen.tools.compile import nvrtc
from hsgen.tools.report import counts, drawing, facts, plans
from hsgen.tools.report.drawing import Figure
from hsgen.tools.report.kernels import Builder, Listing
from hsgen.tools.report.measured import Record, Run, runs
from hsgen.tools.report.shapes import DRAWERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A target on a page: its sorts, their APIs and, if the page is about a bundle, its files as (path, bytes)."""

    target: Target
    sorts: Sequence[Sort]
    apis: Sequence[str]
    files: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The parameters of an algorithm for a key width: drawings, derived values (`notes`), and the parameters."""

    label: str
    figures: list[Figure]
    notes: list[tuple[str, str]]
    params: list[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SortPart:
    """The part of the page about one sort.  If it is `folded`, it is closed until a reader opens it."""

    sort: Sort
    signature: str
    items: str
    folded: bool
    listing: Listing
    shown: list[plans.Shown]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPart:
    """The part of the page about one key width, or one element width of prefix sums."""

    key: str
    section: tuple[str, str]
    folded: bool
    auto: Figure | None
    shapes: list[Shape]
    sorts: list[SortPart]

    @property
    def name(self) -> str:
        """The heading of the part."""
        return self.section[1].format(self.key)

    @property
    def anchor(self) -> str:
        """The HTML id of the part, unique within its target."""
        return f"{self.section[0]}-{self.key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetPart:
    """The part of the page about one target."""

    subject: Subject
    standing: str
    facts: list[tuple[str, str]]
    matches: list[tuple[str, str]]
    keys: list[KeyPart]
    note: str
    runs: list[Run]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Everything that a page shows, and how to compile its kernels.

    If the page is about a bundle, `bundle` has facts about it as (name, value).  `common` has the files that all its
    targets share, as (path, bytes).
    """

    title: str
    subjects: Sequence[Subject]
    records: Sequence[Record] = ()
    bundle: Sequence[tuple[str, str]] = ()
    common: Sequence[tuple[str, int]] = ()
    sizes: Sequence[int] = ()
    compiled: bool = True
    arch: int | None = None
    progress: Callable[[str], None] = field(default=lambda line: None)


def page(contents: Contents) -> str:
    """Return the page as HTML text; with the same compilers, equal contents give equal text on every machine.

    Raises:
        Wrong: a kernel does not compile, or a template is damaged.
    """
    builder = Builder(compiled=contents.compiled, arch=contents.arch, progress=contents.progress)
    parts = [_target(contents, subject, builder) for subject in contents.subjects]
    with template_errors():
        return _environment().get_template("report/page.j2").render(c=contents, targets=parts, version=__version__)


@cache
def _environment() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.templates(), encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        newline_sequence="\n",
        keep_trailing_newline=True,
        autoescape=True,
    )
    env.filters |= {
        "count": drawing.count,
        "power": drawing.power,
        "spelled": counts.spelled,
        "size": quantities.size,
        "exactly": _exactly,
        "wbr": _breakable,
        "candidate": candidate,
    }
    env.globals |= {"apis": APIS, "registers": [nvrtc.API.name]}
    return env


def _exactly(n: int) -> str:
    """Return the exact number of bytes as text, for the tooltip of a rounded size."""
    return drawing.plural(n, "byte")


def _breakable(text: str) -> Markup:
    """Return a path or name in which a browser may break lines after slashes and underscores."""
    return Markup("<wbr>").join(Markup.escape(p) for p in text.replace("_", "_\0").replace("/", "/\0").split("\0"))


def _target(contents: Contents, subject: Subject, builder: Builder) -> TargetPart:
    target = subject.target
    keys = [_key(contents, subject, builder, sorts) for sorts in _by_key(subject.sorts)]
    return TargetPart(
        subject=subject,
        standing=facts.standing(target),
        facts=facts.facts(target),
        matches=facts.matches(target),
        keys=keys,
        note=builder.note(target, subject.apis),
        runs=runs(r for r in contents.records if r["target"] == target.name),
    )


def _by_key(every: Iterable[Sort]) -> list[list[Sort]]:
    """Group sorts by section of the page and key width; sections of other operations, such as prefix sums, are last."""
    groups: dict[tuple[tuple[str, str], str], list[Sort]] = {}
    for sort in every:
        groups.setdefault((operations.of(sort).section, sort.label), []).append(sort)
    return [groups[k] for k in sorted(groups, key=lambda k: k[0] != Operation.section)]


def _key(contents: Contents, subject: Subject, builder: Builder, sorts: Sequence[Sort]) -> KeyPart:
    first = sorts[0]
    apart = operations.of(first).section != Operation.section
    return KeyPart(
        key=first.label,
        section=operations.of(first).section,
        folded=apart,
        auto=counts.figure(subject.target, first.label) if first.algorithm == AUTO else None,
        shapes=_shapes(sorts),
        sorts=[
            SortPart(
                sort=sort,
                signature=described(sort.signature),
                items=operations.of(sort).items,
                folded=operations.of(sort).section != Operation.section
                or (first.algorithm == AUTO and sort.algorithm != AUTO),
                listing=builder.listing(subject.target, subject.apis, sort),
                shown=[plans.shown(sort, n) for n in plans.counts(sort, contents.sizes)],
                rows=[plans.row(step) for step in sort.plan.steps],
            )
            for sort in sorts
        ],
    )


def _shapes(sorts: Sequence[Sort]) -> list[Shape]:
    """Return the distinct shapes of all parts of the sorts."""
    labels: dict[Any, str] = {}
    for sort in sorts:
        for part in sort.parts:
            if part.params not in labels or sort.algorithm != AUTO:
                name = part.label or part.algorithm if sort.algorithm == AUTO else sort.algorithm
                labels[part.params] = " ".join(x for x in (name, described(sort.signature)) if x)
    most: dict[Any, tuple[str, int]] = {}
    for sort in sorts:
        for part in sort.parts:
            most.setdefault(part.params, (part.algorithm, part.max_n))
    return [_shape(labels[p], algorithm, p, top) for p, (algorithm, top) in most.items()]


def _shape(label: str, algorithm: str, params: Any, most: int) -> Shape:
    family = EVERY[algorithm]
    values = [(name, getattr(params, name, None)) for name in family.FIELDS]
    return Shape(
        label=label,
        figures=DRAWERS[algorithm].figures(params, most) if algorithm in DRAWERS else [],
        notes=family.notes(params),
        params=[(name, str(value).lower()) for name, value in values if value is not None],
    )


def every_sort(target: Target) -> list[Sort]:
    """Return all sorts and prefix sums for which a target has tables, without values or features.

    The sorts of one key width are adjacent, and "auto" is the first of them.
    """
    widths = dict.fromkeys(key for _, key in target.choices)
    return [target.sort(label, key) for key in widths for label in target.labels(key)]
