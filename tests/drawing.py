"""Random legal targets and random forms of sorts.

This module does not know what is legal.  Values come from the ranges of the fields, most of them typical sizes.  Tables
that the reader's errors name are drawn again until the reader accepts the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hsgen.algorithms import ALGORITHMS
from hsgen.algorithms.radix import STRATEGY
from hsgen.algorithms.radix import fields as radix_keys
from hsgen.core.errors import Usage
from hsgen.core.fields import Field
from hsgen.core.keys import VALUES, Signature
from hsgen.core.sort import Sort
from hsgen.targets import tables, target
from hsgen.targets.target import Target

Rng = np.random.Generator
Table = dict[str, Any]
Doc = dict[str, Any]
TRIES = 400
"""Attempts to redraw tables before starting over with another target."""

EPILOGUE = """
{% set report_words = 1 %}
{% set report_words_per_key = 2 %}
{% macro epilogue(i, n, key, before, report, shift) %}
hs_atomic_add({{ report(0) }}, hs_key_bits({{ key }}, 0));
{{ report("1 + 2 * %s" | format(i)) }} = hs_key_bits({{ before }}, 0) >> {{ shift }};
{{ report("2 + 2 * %s" | format(i)) }} = hs_to_u32({{ i }} == {{ n }} - 1);
{% endmacro %}
"""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Bounds of random targets.

    widths: subgroup widths of the device.  height, items, lanes: sizes that keep compilation fast.  small_grids:
    whether some devices launch few work-groups in one dimension.
    """

    widths: tuple[int, ...] = (4, 8, 16, 32, 64)
    api: str = "opencl"
    height: int = 16
    items: int = 12
    lanes: int = 256
    local_bytes: tuple[int, ...] = (16384, 32768, 65536, 262144)
    small_grids: bool = True


def _power(rng: Rng, least: int, greatest: int) -> int:
    return 1 << int(rng.integers(least.bit_length() - 1, greatest.bit_length()))


def _one(rng: Rng, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _maybe(rng: Rng, chance: float, value: Any) -> Any:
    """A value, or None to omit the field."""
    return value if rng.random() < chance else None


def device(rng: Rng, b: Bounds) -> Table:
    """Return facts of a device that offers at most what the actual device offers."""
    shuffle = bool(rng.random() < 0.7)
    widths = [1, *(w for w in b.widths if rng.random() < 0.6)] if shuffle else [1]
    return {
        "subgroups": widths,
        "shuffle": shuffle,
        "work_group": _one(rng, 64, 128, b.lanes, b.lanes),
        "groups": _one(rng, 4294967295, 65535, *([int(3000 ** rng.random())] * 3 * b.small_grids)),
        "local_bytes": _one(rng, *b.local_bytes),
        "int64": True,
        "storage8": bool(rng.random() < 0.9),
        "storage16": bool(rng.random() < 0.9),
        "binding_bytes": 1 << 27,
        "progress": _one(rng, "none", "started", "guaranteed"),
        "local": _maybe(rng, 0.6, _one(rng, "chip", "memory")),
        "registers": _maybe(rng, 0.2, 65536),
    }


def merge(rng: Rng, d: Table, b: Bounds) -> Table:
    """Return a table of a merge sort."""
    width = int(_one(rng, *d["subgroups"]))
    slabs = int(rng.integers(1, max(2, d["work_group"] // width + 1)))
    return {
        "subgroup": width,
        "height": 2 * int(rng.integers(1, b.height // 2 + 1)),
        "slabs": _one(rng, slabs, _power(rng, 1, slabs)),
        "clean_slabs": _power(rng, 1, 2 * slabs),
        "local_scale": int(rng.integers(1, 5)),
        "flip_scale": int(rng.integers(1, 4)),
        "half_scale": int(rng.integers(1, 4)),
        "stream_group": _power(rng, width, d["work_group"]),
        "bank_pad": _maybe(rng, 0.5, int(rng.integers(0, 20))),
        "exchange": _maybe(rng, 0.5, _one(rng, "minmax", "select")),
        "path_from": _maybe(rng, 0.4, int(rng.integers(1, 20000))),
    }


def _tiled(rng: Rng, d: Table, b: Bounds) -> Table:
    wide = [w for w in d["subgroups"] if w > 1]
    ranker = _one(rng, *(["match_ballot", "match_broadcast"] * bool(wide)), "bitmask", "radix_split")
    width = int(_one(rng, *wide)) if ranker in ("match_ballot", "match_broadcast") else 1
    lanes = width * int(rng.integers(1, d["work_group"] // width + 1))
    lanes = int(_one(rng, lanes, _power(rng, width, d["work_group"])))
    items = int(rng.integers(1, b.items + 1))
    return {
        "ranker": ranker,
        "subgroup": width,
        "work_group": lanes,
        "items": items,
        "strategy": _one(rng, "reduce_scan", "onesweep"),
        "split": _maybe(rng, 0.5, int(rng.integers(1, 3))),
        "single": _maybe(rng, 0.5, int(rng.integers(0, lanes * items + 1))),
        "sets": _maybe(rng, 0.3, _power(rng, 1, 32)),
        "spins": _maybe(rng, 0.3, _one(rng, 1, 2, 1000, 1 << 20)),
        "large": _maybe(rng, 0.2, True),
        "ahead": _maybe(rng, 0.3, int(rng.integers(1, 65))),
        "resident": _maybe(rng, 0.2, int(rng.integers(1, 5))),
    }


def _buckets(rng: Rng, t: Table, d: Table) -> Table:
    """The fields of buckets, either all or none."""
    out: Table = {}
    if t["strategy"] == "onesweep" and rng.random() < 0.4:
        lanes, items = _power(rng, t["subgroup"], d["work_group"]), int(rng.integers(1, 9))
        out |= {"bucket_group": lanes, "bucket_items": items}
        out |= {
            "bucket_places": _power(rng, lanes, 8 * lanes),
            "msd_group": _power(rng, t["subgroup"], d["work_group"]),
        }
        out |= {"msd_items": int(rng.integers(1, 9)), "msd_from": 13 * lanes * items // 16 + int(rng.integers(0, 2000))}
    if t["strategy"] == "onesweep" and d["progress"] == "guaranteed" and rng.random() < 0.4:
        lanes, items = _power(rng, t["subgroup"], d["work_group"]), int(rng.integers(1, 9))
        most = 13 * lanes * items // 16
        least = most << max(0, (lanes * items - 1).bit_length() - 1)
        out |= {"finish_group": lanes, "finish_items": items, "finish_places": _power(rng, lanes, 8 * lanes)}
        out |= {"finish_from": max(1, least) + int(rng.integers(0, 2000))}
    return out


def _serial(rng: Rng, d: Table, b: Bounds) -> Table:
    wide = [w for w in d["subgroups"] if w > 1]
    width = int(_one(rng, 1, *wide[:2]))
    lanes = width if width > 1 else int(_one(rng, 1, 1, _power(rng, 1, d["work_group"])))
    return {
        "strategy": "per_thread",
        "subgroup": width,
        "work_group": lanes,
        "items": int(_one(rng, int(rng.integers(1, 300)), _power(rng, 1, 1024))),
        "single": _maybe(rng, 0.6, int(rng.integers(0, 5000))),
        "stream_from": _maybe(rng, 0.5, int(rng.integers(1, 20000))) if lanes == 1 else None,
    }


def radix(rng: Rng, d: Table, b: Bounds) -> Table:
    """Return a table of a radix sort."""
    t = _serial(rng, d, b) if rng.random() < 0.35 else _tiled(rng, d, b)
    if buckets := _buckets(rng, t, d):
        t["strategy"] = "hybrid"
    return {
        "bits": int(rng.integers(1, 12)) if rng.random() < 0.4 else int(rng.integers(2, 9)),
        "groups": int(_one(rng, int(rng.integers(1, 70)), _power(rng, 1, 512))),
        "sorted_exit": _maybe(rng, 0.4, bool(rng.random() < 0.8)),
        "single_bits": _maybe(rng, 0.3, int(rng.integers(1, 12))),
        **t,
        **buckets,
    }


def grid(rng: Rng, d: Table, b: Bounds) -> Table:
    """Return a table of a radix sort in one launch, for CUDA."""
    lanes = _power(rng, 32, d["work_group"])
    items = int(rng.integers(1, b.items + 1))
    t = {**_tiled(rng, {**d, "subgroups": [w for w in d["subgroups"] if w > 1] or [1]}, b), "items": items}
    return {
        **t,
        "bits": int(rng.integers(2, 9)),
        "groups": int(rng.integers(1, 200)),
        "work_group": lanes,
        "strategy": "cooperative",
        "least": _maybe(rng, 0.5, int(rng.integers(1, items + 1))),
        "places": _maybe(rng, 0.5, _power(rng, lanes, 8 * lanes)),
        "single": None,
        "large": None,
    }


def scan(rng: Rng, d: Table, b: Bounds) -> Table:
    """Return a table of a prefix sum."""
    alone = rng.random() < 0.3
    return {
        "columns": int(_one(rng, 1, 2, 4, int(rng.integers(1, 17)))),
        "exclusive": bool(rng.random() < 0.5),
        "items": int(rng.integers(1, 300 if alone else b.items + 1)),
        "work_group": 1 if alone else int(rng.integers(1, d["work_group"] + 1)),
        "groups": int(_one(rng, int(rng.integers(1, 70)), _power(rng, 1, 512))),
        "coordination": _one(rng, "scan", "lookback"),
        "spins": _maybe(rng, 0.3, _one(rng, 1, 2, 1000)),
    }


TABLES: Mapping[str, Callable[[Rng, Table, Bounds], Table]] = {"bitonic": merge, "radix": radix, "scan": scan}


def _drawn(rng: Rng, name: str, d: Table, b: Bounds) -> Table:
    """A table, in which occasionally one field has an arbitrary value of its range."""
    make = grid if name == "radix" and b.api == "cuda" and d.get("cooperative") and rng.random() < 0.4 else TABLES[name]
    table = {k: v for k, v in make(rng, d, b).items() if v is not None}
    fields: Mapping[str, Field] = ALGORITHMS[name].FIELDS
    if rng.random() < 0.2:
        key = str(_one(rng, *(k for k, f in fields.items() if f.kind == "int")))
        most = min(fields[key].greatest, 1 << 16)
        low, high = fields[key].least, min(most, {"height": b.height, "items": 4 * b.items}.get(key, most))
        table[key] = int(low + (high - low + 1) * rng.random() ** 4)
    own = {STRATEGY, *radix_keys(table[STRATEGY])} if STRATEGY in table else fields
    return {k: v for k, v in table.items() if k in own}


def _auto(rng: Rng, names: Sequence[str]) -> list[Table]:
    """A random assignment of counts to some of the algorithms, in any order."""
    chosen = [str(x) for x in rng.permutation(list(names))][: int(rng.integers(1, len(names) + 1))]
    ends = sorted({int(x) for x in rng.integers(1, 30000, len(chosen) - 1)})
    chosen = chosen[: len(ends) + 1]
    return [*({"to": n, "use": x} for x, n in zip(chosen, ends, strict=False)), {"use": chosen[-1]}]


def _document(rng: Rng, b: Bounds, name: str) -> Doc:
    """The tables of a target, legal or not."""
    facts = {k: v for k, v in device(rng, b).items() if v is not None}
    if b.api == "cuda":
        facts["cooperative"] = bool(rng.random() < 0.7)
    doc: Doc = {"device": facts}
    for key in [k for k in ("u32", "u64") if rng.random() < 0.6] or ["u32"]:
        for label in ["bitonic"] * (rng.random() < 0.6) + ["radix"] * (rng.random() < 0.9):
            doc[f"{label}.{key}"] = _drawn(rng, label, facts, b)
        if f"radix.{key}" in doc and rng.random() < 0.3:
            doc[f"radix.{key}.more"] = _drawn(rng, "radix", facts, b)
        if rng.random() < 0.2:
            doc[f"scan.{key}"] = _drawn(rng, "scan", facts, b)
    if not any(x in doc for x in ("bitonic.u32", "radix.u32", "bitonic.u64", "radix.u64")):
        doc["radix.u32"] = _drawn(rng, "radix", facts, b)
    for key in ("u8", "u16"):
        if rng.random() < 0.1:
            doc[f"radix.{key}"] = _drawn(rng, "radix", facts, b)
    return doc


def _sorts(rng: Rng, doc: Doc) -> None:
    """Add the assignment of counts to algorithms."""
    for key in ("u32", "u64"):
        names = [k.replace(f".{key}", "").replace(".", "-") for k in doc if f".{key}" in k and k.startswith(("m", "r"))]
        if names and rng.random() < 0.8:
            table = {"ranges": _auto(rng, names)}
            if rng.random() < 0.3:
                table["ranges_values"] = _auto(rng, names)
            doc[f"sort.{key}"] = table


def _placed(name: str, table: Table) -> tables.Placed:
    """The tables of a file for one of a document."""
    path = name.split(".")
    if path[0] not in ALGORITHMS:
        return {tuple(path): table}
    return tables.placed({}, "-".join([path[0], *path[2:]]), path[1], table)


def _value(x: Any) -> str:
    if isinstance(x, dict):
        return f"{{ {', '.join(f'{k} = {_value(v)}' for k, v in x.items())} }}"
    if isinstance(x, list):
        return f"[{', '.join(_value(v) for v in x)}]"
    return str(x).lower() if isinstance(x, bool) else f'"{x}"' if isinstance(x, str) else str(x)


def text_of(doc: Doc, name: str, api: str) -> str:
    """Return the file of a random target."""
    top = {"schema": 2, "name": name, "summary": "drawn at random", "apis": [api]}
    lines = [f"{k} = {_value(v)}" for k, v in top.items()]
    for at, fields in ((at, own) for name, table in doc.items() for at, own in _placed(name, table).items()):
        lines += ["", f"[{'.'.join(at)}]", *(f"{k} = {_value(v)}" for k, v in fields.items())]
    return "\n".join(lines) + "\n"


def drawn(rng: Rng, b: Bounds, name: str = "drawn") -> tuple[str, Target]:
    """Return the file of a random legal target, and the parsed target."""
    while True:
        doc = _document(rng, b, name)
        _sorts(rng, doc)
        for _ in range(TRIES):
            text = text_of(doc, name, b.api)
            try:
                return text, target.parse(text, name, "drawn")
            except Usage as e:
                if not _mended(rng, doc, e.lines, b):
                    break


def _mended(rng: Rng, doc: Doc, lines: Sequence[str], b: Bounds) -> bool:
    """Redraw the tables that errors name; return whether there are any."""
    wrong = {found[1] for line in lines if (found := re.match(r"drawn: ([\w.\[\]-]+): ", line))}
    places = {".".join(at): name for name, table in doc.items() for at in _placed(name, table)}
    found = {max((at for at in places if f"{path}.".startswith(f"{at}.")), key=len, default="") for path in wrong}
    named = {places[at] for at in found if at}
    for table in named:
        if table.startswith("sort."):
            for other in [t for t in doc if t.startswith("sort.")]:
                del doc[other]
            _sorts(rng, doc)
        else:
            doc[table] = _drawn(rng, table.split(".")[0], doc["device"], b)
    return bool(named)


def signature(rng: Rng) -> Signature:
    """Return a random form, which not every sort supports."""
    value = str(_one(rng, "none", "none", *VALUES))
    made = Signature(
        value=value,
        key_transform=bool(rng.random() < 0.5),
        bit_range=bool(rng.random() < 0.4),
        device_count=bool(rng.random() < 0.3),
    )
    if rng.random() < 0.2:
        return replace(made, run_boundaries=True, device_count=False)
    return replace(made, epilogue=EPILOGUE, device_count=False) if rng.random() < 0.15 else made


def sorts_of(rng: Rng, t: Target) -> Iterator[Sort]:
    """Yield sorts of a target in random order, each in a random form that it supports."""
    labels = [(a, k) for k in ("u8", "u16", "u32", "u64") for a in [*t.labels(k), *t.implicit(k)]]
    for number in rng.permutation(len(labels)):
        label, key = labels[number]
        for _ in range(20):
            try:
                yield t.sort(label, key, signature(rng))
                break
            except Usage:
                continue
