"""Targets: the facts about a device family, and parameters of sorts for it, read from a TOML file and checked.

The module names no algorithm: `hsgen.algorithms` lists all of them.  It renders no kernel text.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from hsgen.algorithms import ALGORITHMS, DERIVED, EVERY, IMPLICIT, operation
from hsgen.algorithms import AUTO as AUTO
from hsgen.apis import APIS
from hsgen.core.device import Device
from hsgen.core.errors import SHOWN, Usage, shown
from hsgen.core.fields import PLAIN_TEXT, Reader, presentable
from hsgen.core.keys import KEYS, PLAIN, TYPES, Signature, described
from hsgen.core.sort import Part, Sort
from hsgen.stages import attach
from hsgen.system import documents, resources
from hsgen.targets import assembly, optional, schema, shares
from hsgen.targets.choices import ALL, Auto, algorithm, read_autos, read_choices, unserved
from hsgen.targets.evidence import shapes
from hsgen.targets.isa import read_isa
from hsgen.targets.matching import Match, read_match


def _of_type(label: str, key: str, signature: Signature) -> Signature:
    """Return the signature that the operation of a label needs for a key type; unchanged if the label is unknown."""
    known = label == AUTO or algorithm(label) in EVERY
    return operation(label).of_type(signature, TYPES[key]) if known else signature


def _width(key: str, signature: Signature) -> str:
    """Return the key width that kernels sort.

    If 32-bit keys and values are packed, the width is u64, because kernels sort the 64-bit words.
    """
    width = TYPES[key].key
    if signature.value != "packed":
        return width
    if width != "u32":
        raise Usage(f"value packed: goes with keys of 32 bits, not with {key}")
    return "u64"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """The content of a target file.

    Two targets are equal only if they are the same object, so that results can be cached by target.

    choices: the parameters of algorithms by (label, key width).  A label is the algorithm's name, optionally with a
    variant as a suffix, as in radix-bits2.
    autos: the ranges of the sort "auto" by key width: labels, each with the greatest count that it sorts.
    autos_valued: the same for sorts with values.
    autos_counted: the same for sorts without values whose count is in device memory.
    autos_valued_counted: the same for sorts with values whose count is in device memory.
    autos_by_value: by key width, then by the kind of values: the ranges of kinds that have ranges of their own.
    firsts: by key width, the label of the sort that is compiled first, and serves calls until "auto" is compiled.
    isa: the devices for which each offline compiler compiles the kernels.
    named: labels by (name, key width).  The name, such as radix-onesweep, is the one by which ``[sort.KEY]`` refers to
    the parameters.
    tables: the values of the optional tables, which override derived parameters (`hsgen.targets.optional`).
    shapes: the hash of all parameters and ranges (`hsgen.targets.evidence.shapes`).
    """

    name: str
    summary: str
    apis: tuple[str, ...]
    device: Device
    match: Match
    choices: Mapping[tuple[str, str], Any]
    evidence: tuple[Mapping[str, str], ...]
    autos: Mapping[str, Auto] = field(default_factory=dict)
    autos_valued: Mapping[str, Auto] = field(default_factory=dict)
    autos_counted: Mapping[str, Auto] = field(default_factory=dict)
    autos_valued_counted: Mapping[str, Auto] = field(default_factory=dict)
    autos_by_value: Mapping[str, Mapping[str, Auto]] = field(default_factory=dict)
    firsts: Mapping[str, str] = field(default_factory=dict)
    isa: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named: Mapping[tuple[str, str], str] = field(default_factory=dict)
    tables: optional.Tables = field(default_factory=dict)
    shapes: str = ""

    def labels(self, key: str) -> list[str]:
        """Return the labels of all sorts for a key type: "auto" first, if it exists, then those of `choices`."""
        width = TYPES[key].key
        table_width = self.keys_of(width)
        have = [a for a, k in self.choices if k == table_width and self._specialized(a, width, PLAIN) is not None]
        return [AUTO] * any(a in have for a, _ in self.autos.get(table_width, ())) + have

    def autos_for(self, signature: Signature) -> Mapping[str, Auto]:
        """Return the ranges of the sort "auto" for a signature, by key width."""
        if signature.value_bytes and signature.device_count:
            return self.autos_valued_counted
        if signature.value_bytes:
            value = "index" if signature.index else signature.value
            by_kind = {key: kinds[value] for key, kinds in self.autos_by_value.items() if value in kinds}
            return {**self.autos_valued, **by_kind}
        return self.autos_counted if signature.device_count else self.autos

    def keys_of(self, width: str) -> str:
        """Return the key width whose parameters sorts of `width` use: u32 for u8 and u16 without any, else `width`."""
        has_tables = any(k == width for _, k in self.choices)
        return "u32" if width in ("u8", "u16") and not has_tables else width

    def implicit(self, key: str) -> list[str]:
        """Return the algorithms with optional tables that support a key type."""
        key_type = TYPES[key]
        plain = {name: operation(name).of_type(PLAIN, key_type) for name in IMPLICIT}
        return [name for name in IMPLICIT if self._specialized(name, key_type.key, plain[name]) is not None]

    def derived(self, key: str) -> list[str]:
        """Return the labels that support a key type, but have no table: hsgen derives their parameters from others."""
        width = TYPES[key].key
        have = [label for label in DERIVED if (label, width) not in self.choices]
        return [label for label in have if self._specialized(label, width, PLAIN) is not None]

    @lru_cache(maxsize=1024)  # noqa: B019  # the cache keeps targets alive, but that of `parse` does so anyway
    def _specialized(self, label: str, width: str, signature: Signature) -> Any:
        """Return the parameters of a label for a key width and a signature; None if the label does not support them."""
        if label in IMPLICIT:
            by_label = {a: p for (a, k), p in self.choices.items() if k == self.keys_of(width)}
            return optional.specialized(by_label, self.tables, label, width, signature, self.device)
        have = {k: p for (a, k), p in self.choices.items() if a == label}
        if label in DERIVED and width not in have:
            by_label = {a: p for (a, k), p in self.choices.items() if k == width}
            params = DERIVED[label].derive(label, by_label, KEYS[width], self.device)
            have |= {} if params is None else {width: params}
        return ALGORITHMS[algorithm(label)].specialize(have, KEYS[width], signature, self.device)

    def _upto(self, label: str, key: str, chosen: str, signature: Signature) -> Auto:
        """Return the ranges of the sort `label`: those of "auto", or a single range of all counts for other labels.

        chosen: a result of `keys_of`, the key width whose choices the sort uses.

        Raises:
            Usage: the target has no such sort for `key`.
        """
        upto = self.autos_for(signature).get(chosen, ()) if label == AUTO else ((label, ALL),)
        known = {*IMPLICIT, *DERIVED, *(name for name, k in self.choices if k == chosen)}
        if not upto or any(name not in known for name, _ in upto):
            have = ", ".join(f"{a} {k}" for k in KEYS for a in self.labels(k))
            raise Usage(f"target {self.name}: no {label} for {key} keys; it has {have}")
        return upto

    def _parts(self, upto: Auto, width: str, signature: Signature, *, stable: bool) -> list[Part]:
        """Return a part for each range in `upto` whose algorithm supports a signature.

        If an algorithm does not support the signature, the next part also sorts the counts of its range.
        stable: whether to leave out algorithms that compare packed words, keys with values, as a whole.  Their sort is
        not stable, because it orders equal keys by their values.
        """
        parts, low = list[Part](), 0
        for name, top in upto:
            params = self._specialized(name, width, signature)
            if params is None:
                continue
            if stable and signature.value == "packed" and EVERY[algorithm(name)].plan(params).whole_words:
                continue  # docs/reference/semantics.md says why this sort is not stable
            parts.append(Part(algorithm=algorithm(name), label=name, params=params, min_n=low, max_n=top))
            low = top
        return parts

    def default(self, key: str, signature: Signature = PLAIN, max_n: int = ALL) -> Sort:
        """Return the sort "auto" for up to `max_n` keys of a type; if there is no "auto", the first sort of the file.

        Raises:
            Usage: the target has no choices for such keys.
        """
        sorting = [a for a in self.labels(key) if operation(a).by_count]
        return self.sort(sorting[0] if sorting else AUTO, key, signature, max_n)

    @lru_cache(maxsize=128)  # noqa: B019  # see `_specialized`
    def sort(self, label: str, key: str, signature: Signature = PLAIN, max_n: int = ALL) -> Sort:
        """Return the sort of a label, or "auto", for up to `max_n` keys of a type and for a signature.

        The sort "auto" consists of the algorithms that support the signature and sort counts up to `max_n`.

        Raises:
            Usage: the target has no choices for such keys, or the choices do not support the signature.
        """
        signature = _of_type(label, key, signature)
        width = _width(key, signature)
        attach.fit(signature, label if label in IMPLICIT else "")
        chosen = self.keys_of(width)
        label = self.named.get((label, chosen), label)
        parts = self._parts(self._upto(label, key, chosen, signature), width, signature, stable=label == AUTO)
        if which := unserved(parts, signature):
            request = " ".join(x for x in (f"{label} for {key} keys", described(signature)) if x)
            raise Usage(f"target {self.name}: no {request}; {which}")
        parts[-1] = replace(parts[-1], max_n=ALL)
        parts = assembly.limited(parts, max_n, signature)
        task, most, where = operation(parts[0].algorithm), self.device, f"target {self.name}: sort.{chosen}"
        kernels, plan, placed = assembly.assemble(parts, where, signature, groups=most.groups, lanes=most.work_group)
        if sorting := assembly.sorting(placed[0], signature):
            kernels, plan, placed = assembly.joined(placed[0], self.default(key, sorting, min(max_n, plan.max_n)))
        kernels, plan = attach.followed(kernels, plan, placed, KEYS[width], signature, self.device)
        return Sort(
            target=self.name,
            algorithm=label,
            key=KEYS[width],
            kernels=kernels,
            plan=shares.within(plan, most.groups),
            parts=placed,
            operation=task.name,
            limit=max_n,
            columns=task.columns(parts[0].params),
            groups=most.groups,
            pair=not self.device.int64,
            vulkan=self.device.vulkan,
            written_out=self.device.unroll == "text",
            signature=signature,
        )


def names() -> list[str]:
    """Return the sorted names of the targets that are part of hsgen."""
    return sorted(p.stem for p in resources.targets().glob("*.toml"))


def find(name: str) -> Target:
    """Return the target `name` of hsgen or, if `name` ends in .toml, the target in the file with that path.

    Raises:
        Usage: the target or the file does not exist, or the file has errors (one line per error).
    """
    path, shown_name = Path(name) if name.endswith(".toml") else resources.targets() / f"{name}.toml", shown(name)
    if not name.endswith(".toml") and name not in names():
        close = difflib.get_close_matches(name[:SHOWN], names(), 1)
        hint = f"did you mean {close[0]}? known are" if close else "known are"
        raise Usage(f"target {shown_name}: unknown; {hint} {', '.join(names())}, or give a file that ends in .toml")
    text = documents.text(path, "give the path of a target file", name=f"target {shown_name}")
    if path.stem in names() and path.resolve() != (resources.targets() / path.name).resolve():
        raise Usage(f"target {shown_name}: {path.stem} comes with hsgen; give your target and its file another name")
    return parse(text, path.stem, shown(path) if name.endswith(".toml") else f"targets/{path.name}")


@lru_cache(maxsize=256)
def parse(text: str, stem: str, where: str) -> Target:
    """Return the target `stem`, given the text of its file; error messages begin with `where`, the name of the file.

    Raises:
        Usage: the errors of the text, one line each, up to a limit.
    """
    data = documents.toml(text, where, "the file must be TOML")
    schema.newest(data, where)
    r = Reader(where)
    r.unknown(data, "", (*schema.TOP, *schema.TABLES))
    top = r.fields({k: v for k, v in data.items() if k in schema.TOP}, "", schema.TOP)
    schema.name(r, top, stem)
    device_table = r.table(data, "device")
    facts = r.fields(device_table, "device", schema.DEVICE) if device_table is not None else {}
    complete = all(name in facts for name, field in schema.DEVICE.items() if field.required)
    device = Device(**schema.tuples(facts)) if complete else None
    match = read_match(r, data)
    isa = read_isa(r, data, top.get("apis", list(APIS)))
    if not presentable(top.get("summary", "x")):
        r.error("summary", "cannot be shown", PLAIN_TEXT)
    choices, named = read_choices(r, data, device)
    sorts = {**read_autos(r, data, choices, named, device), "tables": optional.read(r, data, choices, device)}
    schema.able(r, top.get("apis", []), choices, device)
    evidence = schema.evidence(r, data)
    r.check()
    assert device is not None
    return Target(
        name=top["name"],
        summary=top["summary"],
        apis=tuple(top["apis"]),
        device=device,
        match=match,
        isa=isa,
        choices=choices,
        named={(full, key): label for key, x in named.items() for full, label in x.tables.items()},
        evidence=evidence,
        **sorts,
        shapes=shapes(data),
    )
