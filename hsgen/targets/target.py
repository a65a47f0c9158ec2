"""Targets: facts about a device family and the choices made for it, read from strict TOML.

Knows no algorithm by name but through the registry, and renders nothing.
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
    """The signature of a label for a key type; no change for a label that no algorithm has."""
    known = label == AUTO or algorithm(label) in EVERY
    return operation(label).of_type(signature, TYPES[key]) if known else signature


def _width(key: str, signature: Signature) -> str:
    """The width of keys as kernels see them: packed ones are 64-bit words."""
    width = TYPES[key].key
    if signature.value != "packed":
        return width
    if width != "u32":
        raise Usage(f"value packed: goes with keys of 32 bits, not with {key}")
    return "u64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target file, read and checked.

    `choices` maps (label, key name) to an algorithm's parameters; a label is the algorithm's name, or with a
    variant as a suffix, as in radix-bits2.  `autos` maps a key name to the labels that its sort for any count
    consists of, each with the greatest count that it serves; `autos_valued` the same where values are sorted as well;
    `firsts` to the label of the sort that is compiled first.  `tables` are the optional ones.  `named` maps the full
    names of tables of strategies, such as radix-onesweep, with key names to labels.  `isa` maps offline compilers to
    the devices that they compile for.  `shapes` is the hash of all choices (`hsgen.targets.evidence.shapes`).
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
    firsts: Mapping[str, str] = field(default_factory=dict)
    isa: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named: Mapping[tuple[str, str], str] = field(default_factory=dict)
    tables: optional.Tables = field(default_factory=dict)
    shapes: str = ""

    def labels(self, key: str) -> list[str]:
        """Return what can be asked for with a key type: "auto" first where there is one, then the choices."""
        width = TYPES[key].key
        own = self.keys_of(width)
        have = [a for a, k in self.choices if k == own and self._specialized(a, width, PLAIN) is not None]
        return [AUTO] * any(a in have for a, _ in self.autos.get(own, ())) + have

    def keys_of(self, width: str) -> str:
        """Return the width whose choices serve a width: its own, or for narrow keys those of words."""
        own = any(k == width for _, k in self.choices)
        return "u32" if width in ("u8", "u16") and not own else width

    def implicit(self, key: str) -> list[str]:
        """Return the algorithms without tables that can be asked for with a key type."""
        given = TYPES[key]
        plain = {name: operation(name).of_type(PLAIN, given) for name in IMPLICIT}
        return [name for name in IMPLICIT if self._specialized(name, given.key, plain[name]) is not None]

    def derived(self, key: str) -> list[str]:
        """Return the labels that can be asked for with a key type although the target has no table for them."""
        width = TYPES[key].key
        have = [label for label in DERIVED if (label, width) not in self.choices]
        return [label for label in have if self._specialized(label, width, PLAIN) is not None]

    def _specialized(self, label: str, width: str, signature: Signature) -> Any:
        """The parameters of a label for a width and a form; None if the algorithm does not serve them."""
        if label in IMPLICIT:
            own = {a: p for (a, k), p in self.choices.items() if k == self.keys_of(width)}
            return optional.specialized(own, self.tables, label, width, signature, self.device)
        have = {k: p for (a, k), p in self.choices.items() if a == label}
        if label in DERIVED and width not in have:
            own = {a: p for (a, k), p in self.choices.items() if k == width}
            made = DERIVED[label].derive(label, own, KEYS[width], self.device)
            have |= {} if made is None else {width: made}
        return ALGORITHMS[algorithm(label)].specialize(have, KEYS[width], signature, self.device)

    def _upto(self, label: str, key: str, chosen: str, signature: Signature) -> Auto:
        """The algorithms of a sort with their greatest counts, by the choices for the width `chosen`.

        Raises:
            Usage: the target has no choices for them.
        """
        autos = self.autos_valued if signature.value_bytes else self.autos
        upto = autos.get(chosen, ()) if label == AUTO else ((label, ALL),)
        known = {*IMPLICIT, *DERIVED, *(name for name, k in self.choices if k == chosen)}
        if not upto or any(name not in known for name, _ in upto):
            have = ", ".join(f"{a} {k}" for k in KEYS for a in self.labels(k))
            raise Usage(f"target {self.name}: no {label} for {key} keys; it has {have}")
        return upto

    def _parts(self, upto: Auto, width: str, signature: Signature, *, stable: bool) -> list[Part]:
        """The parts of a sort that serve the form; `stable` ones only where equal keys must stay in their order."""
        parts, low = list[Part](), 0
        for name, top in upto:
            params = self._specialized(name, width, signature)
            if params is None:
                continue
            if stable and signature.value == "packed" and EVERY[algorithm(name)].plan(params).whole_words:
                continue  # see docs/reference/semantics.md
            parts.append(Part(algorithm=algorithm(name), label=name, params=params, min_n=low, max_n=top))
            low = top
        return parts

    def default(self, key: str, signature: Signature = PLAIN, max_n: int = ALL) -> Sort:
        """Return the sort for `key` that serves any count up to `max_n`, or the first one of the file.

        Raises:
            Usage: this target makes no choice for such keys.
        """
        sorting = [a for a in self.labels(key) if operation(a).by_count]
        return self.sort(sorting[0] if sorting else AUTO, key, signature, max_n)

    def sort(self, label: str, key: str, signature: Signature = PLAIN, max_n: int = ALL) -> Sort:
        """Return the sort of the algorithm or variant `label`, or "auto", for keys of a type, in a form.

        Of the algorithms of "auto" those take part that serve the form and counts up to `max_n`.

        Raises:
            Usage: this target makes no choice for them, or none that serves the form.
        """
        signature = _of_type(label, key, signature)
        width = _width(key, signature)
        attach.fit(signature, label if label in IMPLICIT else "")
        chosen = self.keys_of(width)
        label = self.named.get((label, chosen), label)
        parts = self._parts(self._upto(label, key, chosen, signature), width, signature, stable=label == AUTO)
        if which := unserved(parts, signature):
            what = " ".join(x for x in (f"{label} for {key} keys", described(signature)) if x)
            raise Usage(f"target {self.name}: no {what}; {which}")
        parts[-1] = replace(parts[-1], max_n=ALL)
        parts = assembly.limited(parts, max_n, signature)
        does, most, where = operation(parts[0].algorithm), self.device, f"target {self.name}: sort.{chosen}"
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
            operation=does.name,
            limit=max_n,
            columns=does.columns(parts[0].params),
            groups=most.groups,
            pair=not self.device.int64,
            vulkan=self.device.vulkan,
            written_out=self.device.unroll == "text",
            signature=signature,
        )


def names() -> list[str]:
    """Return the names of the targets that come with hsgen, sorted."""
    return sorted(p.stem for p in resources.targets().glob("*.toml"))


def find(name: str) -> Target:
    """Return the target called `name`, or the one that the file `name` (ending in .toml) describes.

    Raises:
        Usage: there is no such target or file, or the file is wrong (one line for each error).
    """
    path, said = Path(name) if name.endswith(".toml") else resources.targets() / f"{name}.toml", shown(name)
    if not name.endswith(".toml") and name not in names():
        close = difflib.get_close_matches(name[:SHOWN], names(), 1)
        hint = f"did you mean {close[0]}? known are" if close else "known are"
        raise Usage(f"target {said}: unknown; {hint} {', '.join(names())}, or give a file that ends in .toml")
    text = documents.text(path, "give the path of a target file", name=f"target {said}")
    if path.stem in names() and path.resolve() != (resources.targets() / path.name).resolve():
        raise Usage(f"target {said}: {path.stem} comes with hsgen; give your target and its file another name")
    return parse(text, path.stem, shown(path) if name.endswith(".toml") else f"targets/{path.name}")


@lru_cache(maxsize=256)
def parse(text: str, stem: str, where: str) -> Target:
    """Return the target that `text` describes; `stem` is the name it must have, `where` begins error lines.

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
    whole = all(name in facts for name, field in schema.DEVICE.items() if field.required)
    device = Device(**schema.tuples(facts)) if whole else None
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
