"""Random legal targets and random forms of sorts.

This module does not know what is legal.  Values come from the ranges of the fields, most of them typical sizes.  Tables
that the reader's errors name are drawn again until the reader accepts the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hsgen.algorithms import ALGORITHMS
from hsgen.algorithms.radix import STRATEGY
from hsgen.algorithms.radix import fields as radix_keys
from hsgen.algorithms.radix.hybrid.fields import FALLBACK
from hsgen.algorithms.radix.strategies import STRATEGIES
from hsgen.bundle.choosing import offered
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
    whether some devices launch few work-groups in one dimension.  few: the chance that a table's work-groups have 1 or
    2 lanes, or 1 or 2 subgroups; above 0, each strategy of a radix sort is as likely as any other, and algorithms that
    need no table may have one.
    """

    widths: tuple[int, ...] = (4, 8, 16, 32, 64)
    api: str = "opencl"
    height: int = 16
    items: int = 12
    lanes: int = 256
    local_bytes: tuple[int, ...] = (16384, 32768, 65536, 262144)
    small_grids: bool = True
    few: float = 0.0


def _power(rng: Rng, least: int, greatest: int) -> int:
    return 1 << int(rng.integers(least.bit_length() - 1, greatest.bit_length()))


def _one(rng: Rng, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _maybe(rng: Rng, chance: float, value: Any) -> Any:
    """A value, or None to omit the field."""
    return value if rng.random() < chance else None


def _lanes(rng: Rng, b: Bounds, width: int, usual: Callable[[], int]) -> int:
    """The lanes of a work-group: as `usual` says, or those of 1 or 2 subgroups."""
    if b.few and rng.random() < b.few:
        return width * int(rng.integers(1, 3))
    return usual()


def device(rng: Rng, b: Bounds) -> Table:
    """Return facts of a device that offers at most what the actual device offers."""
    shuffle = bool(rng.random() < 0.7)
    widths = [1, *(w for w in b.widths if rng.random() < 0.6)] if shuffle else [1]
    facts = _device(rng, b, widths, shuffle)
    return _few_device(rng, b, facts) if b.few else facts


def _device(rng: Rng, b: Bounds, widths: list[int], shuffle: bool) -> Table:
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


def _few_device(rng: Rng, b: Bounds, facts: Table) -> Table:
    """Return facts for which more strategies are legal, and for which derived work-groups have few lanes."""
    lanes = _power(rng, 1, b.lanes) if rng.random() < b.few / 2 else facts["work_group"]
    large = {"local": "chip", "local_bytes": 1 << 18} if rng.random() < 0.15 else {}
    lanes = 1024 if large and rng.random() < 0.7 else lanes
    return (
        facts
        | large
        | {
            "progress": _one(rng, "none", "started", "guaranteed", "guaranteed", "guaranteed"),
            "cores": _maybe(rng, 0.4, int(rng.integers(1, 9))),
            "work_group": lanes,
            "subgroups": [w for w in facts["subgroups"] if w <= lanes],
        }
    )


def merge(rng: Rng, d: Table, b: Bounds) -> Table:
    """Return a table of a merge sort."""
    width = int(_one(rng, *d["subgroups"]))
    slabs = int(rng.integers(1, max(2, d["work_group"] // width + 1)))
    if b.few and rng.random() < b.few:
        slabs = int(rng.integers(1, 3))
    return {
        "subgroup": width,
        "height": 2 * int(rng.integers(1, b.height // 2 + 1)),
        "slabs": _one(rng, slabs, _power(rng, 1, slabs)),
        "clean_slabs": _power(rng, 1, 2 * slabs),
        "local_scale": int(rng.integers(1, 5)),
        "flip_scale": int(rng.integers(1, 4)),
        "half_scale": int(rng.integers(1, 4)),
        "stream_group": _lanes(rng, b, width, lambda: _power(rng, width, d["work_group"])),
        "bank_pad": _maybe(rng, 0.5, int(rng.integers(0, 20))),
        "exchange": _maybe(rng, 0.5, _one(rng, "minmax", "select")),
        "path_from": _maybe(rng, 0.4, int(rng.integers(1, 20000))),
        "compact": _maybe(rng, 0.2, True) if b.few else None,
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
        out |= {"bucket.work_group": lanes, "bucket.items": items}
        out |= {
            "bucket.bins": _power(rng, lanes, 8 * lanes),
            "partition.work_group": _power(rng, t["subgroup"], d["work_group"]),
        }
        out |= {"partition.items": int(rng.integers(1, 9))}
        out |= {"partition.above": 13 * lanes * items // 16 + int(rng.integers(0, 2000))}
    if t["strategy"] == "onesweep" and d["progress"] == "guaranteed" and rng.random() < 0.4:
        lanes, items = _power(rng, t["subgroup"], d["work_group"]), int(rng.integers(1, 9))
        most = 13 * lanes * items // 16
        least = most << max(0, (lanes * items - 1).bit_length() - 1)
        out |= {"pair_bucket.work_group": lanes, "pair_bucket.items": items}
        out |= {"pair_bucket.bins": _power(rng, lanes, 8 * lanes)}
        out |= {"pair_bucket.above": max(1, least) + int(rng.integers(0, 2000))}
    return out


def _bucket(rng: Rng, d: Table, b: Bounds, width: int, name: str) -> Table:
    """The shape of work-groups that sort a bucket on chip."""
    lanes = _lanes(rng, b, width, lambda: _power(rng, width, d["work_group"]))
    items = int(rng.integers(1, min(65, 4096 // lanes + 1)))
    return {f"{name}.work_group": lanes, f"{name}.items": items, f"{name}.bins": _power(rng, lanes, 16 * lanes)}


def _dealing(rng: Rng, d: Table, b: Bounds, width: int, name: str) -> Table:
    """The shape of work-groups that deal a tile into buckets."""
    lanes = _lanes(rng, b, width, lambda: _power(rng, width, d["work_group"]))
    return {f"{name}.work_group": lanes, f"{name}.items": int(rng.integers(1, 17))}


def _hybrid(rng: Rng, t: Table, d: Table, b: Bounds) -> Table:
    """The fields of a hybrid sort: buckets of keys, of pairs or of both, and what sorts what they do not hold."""
    width, out = t["subgroup"], {}
    if rng.random() < 0.4 or d["progress"] == "none":
        out["fallback"] = "reduce_scan"
    keys = rng.random() < 0.7
    if keys:
        own = {**_bucket(rng, d, b, width, "bucket"), **_dealing(rng, d, b, width, "partition")}
        mean = 13 * own["bucket.work_group"] * own["bucket.items"] // 16
        out |= own | {"partition.above": mean + int(rng.integers(1, 2000))}
        if rng.random() < 0.3:
            out |= {"large": True, "counting.bits": int(rng.integers(12, 17))}
            out["counting.items"] = int(rng.integers(1, 9))
            out["counting.work_group"] = _lanes(rng, b, width, lambda: _power(rng, width, d["work_group"]))
    if not keys or rng.random() < 0.5:
        own = _bucket(rng, d, b, width, "pair_bucket")
        held = own["pair_bucket.work_group"] * own["pair_bucket.items"]
        most = held << max(0, (held - 1).bit_length() - 1)
        out |= own | {"pair_bucket.above": most + int(rng.integers(1, 2000))}
        out["pair_bucket.mean"] = _maybe(rng, 0.3, int(rng.integers(1, held + 1)))
        if rng.random() < 0.4:
            out |= {"fallback": "reduce_scan", **_dealing(rng, d, b, width, "pair_partition")}
            out["pair_partition.above"] = int(rng.integers(1, out["pair_bucket.above"]))
            lanes = own["pair_bucket.work_group"]
            out["pair_partition.bins"] = _power(rng, lanes, 16 * lanes)
    if t["ranker"] == "match_ballot" and "fallback" not in out and rng.random() < 0.6:
        out |= {"sample": _power(rng, 16, 1024), "bits": _one(rng, 4, 8, 8), "sorted_exit": None}
    return out | {"crowded_bits": _maybe(rng, 0.4, int(rng.integers(1, 9)))}


def _few_radix(rng: Rng, d: Table, b: Bounds) -> Table:
    """Return a table of any strategy of a radix sort."""
    strategies = [*STRATEGIES, *["hybrid", "partition"] * 3, *["cooperative"] * 2]  # which more shapes are illegal of
    strategy = str(_one(rng, *(x for x in strategies if x != "cooperative" or d.get("cooperative"))))
    if strategy == "per_thread":
        t = _serial(rng, d, b)
        lanes = _lanes(rng, b, 1, lambda: t["work_group"]) if t["subgroup"] == 1 else t["work_group"]
        return t | {"work_group": lanes, "compact": _maybe(rng, 0.3, True), "single_lanes": _maybe(rng, 0.3, 1)}
    voting = strategy in ("cooperative", "partition") or (strategy in ("hybrid", "single") and rng.random() < 0.7)
    t = _tiled(rng, {**d, "subgroups": [w for w in d["subgroups"] if w > 1] or [1]} if voting else d, b)
    if voting and t["subgroup"] == 1 and (wide := [w for w in d["subgroups"] if w > 1]):
        t |= {"ranker": _one(rng, "match_ballot", "match_ballot", "match_broadcast"), "subgroup": int(_one(rng, *wide))}
    width = t["subgroup"]
    t["work_group"] = _lanes(rng, b, width, lambda: _power(rng, width, d["work_group"]))
    t |= {"strategy": strategy, "compact": _maybe(rng, 0.2, True), "sorted_exit": None}
    t |= {"single": _maybe(rng, 0.5, int(rng.integers(0, t["work_group"] * t["items"] + 1)))}
    if strategy == "hybrid":
        t |= _hybrid(rng, t, d, b)
    elif strategy == "partition":
        t |= _bucket(rng, d, b, width, "bucket")
        t |= _dealing(rng, d, b, width, "uneven") if rng.random() < 0.5 else {}
    elif strategy == "single":
        t |= {"single": None, "bins": _maybe(rng, 0.6, _power(rng, t["work_group"], 16 * t["work_group"]))}
    elif strategy == "cooperative":
        t |= {"least": _maybe(rng, 0.5, int(rng.integers(1, t["items"] + 1))), "large": None}
        t["bins"] = _maybe(rng, 0.6, _power(rng, t["work_group"], 16 * t["work_group"]))
    return t


def _few_optional(rng: Rng, d: Table, b: Bounds) -> dict[str, Table]:
    """Return tables of algorithms that need none."""
    lanes, items = _lanes(rng, b, 1, lambda: _power(rng, 1, d["work_group"])), int(rng.integers(0, 16))
    select = {"work_group": lanes, "items": items + 1, "capacity": _power(rng, max(4, 2 * lanes), 16 * max(4, lanes))}
    select |= {"bits": int(rng.integers(4, 10)), "groups": int(rng.integers(1, 30)), "row_limit": 1 << 14}
    select["bin_sort"] = bool(rng.random() < 0.6)
    tables = {
        "radix_select": select,
        "reduce_by_key": {"work_group": lanes, "items": 2 * items + 1, "groups": int(rng.integers(1, 30))},
        "gather": {"work_group": lanes, "tile": 1 << 14, "batch": 1 + items},
        "pack": {"work_group": lanes, "tile": 1 << 14},
    }
    return {name: table for name, table in tables.items() if rng.random() < 0.4}


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
    if b.few:
        t, buckets = _few_radix(rng, d, b), {}
    else:
        t, buckets = _serial(rng, d, b) if rng.random() < 0.35 else _tiled(rng, d, b), {}
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
        "bins": _maybe(rng, 0.5, _power(rng, lanes, 8 * lanes)),
        "single": None,
        "large": None,
    }


def _sections(rng: Rng, d: Table, b: Bounds) -> Table:
    """Return a table of a prefix sum in one launch, whose work-groups wait for each other."""
    width = int(_one(rng, *[w for w in d["subgroups"] if w > 1]))
    lanes = _lanes(rng, b, width, lambda: _power(rng, width, d["work_group"]))
    return {
        "columns": int(_one(rng, 1, 2, 4)),
        "exclusive": bool(rng.random() < 0.5),
        "items": 4 * int(rng.integers(1, 5)),
        "work_group": lanes,
        "groups": int(rng.integers(1, 70)),
        "coordination": "sections",
        "subgroup": width,
        "section": _maybe(rng, 0.5, int(rng.integers(2, lanes + 1))),
        "local": _maybe(rng, 0.3, True),
    }


def scan(rng: Rng, d: Table, b: Bounds) -> Table:
    """Return a table of a prefix sum."""
    if b.few and len(d["subgroups"]) > 1 and rng.random() < 0.4:
        return _sections(rng, d, b)
    alone = rng.random() < 0.3
    return {
        "columns": int(_one(rng, 1, 2, 4, int(rng.integers(1, 17)))),
        "exclusive": bool(rng.random() < 0.5),
        "items": int(rng.integers(1, 300 if alone else b.items + 1)),
        "work_group": 1 if alone else _lanes(rng, b, 1, lambda: int(rng.integers(1, d["work_group"] + 1))),
        "groups": int(_one(rng, int(rng.integers(1, 70)), _power(rng, 1, 512))),
        "coordination": _one(rng, "scan", "lookback"),
        "spins": _maybe(rng, 0.3, _one(rng, 1, 2, 1000)),
    }


TABLES: Mapping[str, Callable[[Rng, Table, Bounds], Table]] = {"bitonic": merge, "radix": radix, "scan": scan}


def _drawn(rng: Rng, name: str, d: Table, b: Bounds) -> Table:
    """A table, in which occasionally one field has an arbitrary value of its range."""
    apart = name == "radix" and b.api == "cuda" and not b.few and d.get("cooperative") and rng.random() < 0.4
    make = grid if apart else TABLES[name]
    table = {k: v for k, v in make(rng, d, b).items() if v is not None}
    fields: Mapping[str, Field] = ALGORITHMS[name].FIELDS
    if rng.random() < 0.2:
        key = str(_one(rng, *(k for k, f in fields.items() if f.kind == "int")))
        most = min(fields[key].greatest, 1 << 16)
        low, high = fields[key].least, min(most, {"height": b.height, "items": 4 * b.items}.get(key, most))
        table[key] = int(low + (high - low + 1) * rng.random() ** 4)
    own: Collection[str] = fields
    if STRATEGY in table:
        own = {STRATEGY, FALLBACK, *radix_keys(table[STRATEGY], table.get(FALLBACK, ""))}
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
    if b.few:
        doc |= {f"{name}.u32": table for name, table in _few_optional(rng, facts, b).items()}
    return doc


def _sorts(rng: Rng, doc: Doc) -> None:
    """Add the assignment of counts to algorithms."""
    for key in ("u32", "u64"):
        names = [k.replace(f".{key}", "").replace(".", "-") for k in doc if f".{key}" in k and k.startswith(("m", "r"))]
        if names and rng.random() < 0.8:
            table = {"ranges": _auto(rng, names)}
            if rng.random() < 0.3:
                table["ranges_values"] = _auto(rng, names)
            if rng.random() < 0.2:
                table["ranges_counts"] = _auto(rng, names)
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
    top = {"schema": 3, "name": name, "summary": "drawn at random", "apis": [api]}
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
    for table in sorted(named):  # a set has another order in each process
        if table.startswith("sort."):
            for other in [t for t in doc if t.startswith("sort.")]:
                del doc[other]
            _sorts(rng, doc)
        elif table.split(".")[0] in TABLES:
            doc[table] = _drawn(rng, table.split(".")[0], doc["device"], b)
        else:
            del doc[table]
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
    keys = [k for k in offered(t) if k in ("u8", "u16", "u32", "u64")]
    labels = [(a, k) for k in keys for a in [*t.labels(k), *t.implicit(k)]]
    for number in rng.permutation(len(labels)):
        label, key = labels[number]
        for _ in range(20):
            try:
                yield t.sort(label, key, signature(rng))
                break
            except Usage:
                continue
