"""The contract between kernel bodies and dialects: every word that bodies may use, from its file of templates."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import jinja2

from hsgen.core.errors import Wrong

FILE = "dialects/contract.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word: its name, its parameters (None where it is used without parentheses), what it means, and its group."""

    name: str
    signature: str
    parameters: tuple[str, ...] | None
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Words that belong together.  `needs` is the capability that a dialect has to have, `when` which sorts define
    them; "" where all do."""

    name: str
    title: str
    needs: str
    when: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """All groups, the capabilities with their meanings, and the words that all dialects share for themselves."""

    groups: tuple[Group, ...]
    capabilities: dict[str, str]
    helpers: frozenset[str]

    def words(self, capabilities: Iterable[str]) -> dict[str, Word]:
        """Return the words, by name, of a dialect with these capabilities."""
        have = {"", *capabilities}
        return {w.name: w for g in self.groups if g.needs in have for w in g.words}


def contract(env: jinja2.Environment) -> Contract:
    """Return the contract among the templates of an environment."""
    assert env.loader is not None
    return _parsed(env.loader.get_source(env, FILE)[0])


@cache
def _parsed(text: str) -> Contract:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise Wrong(f"templates: {FILE}: {e}; mend the file or install hsgen again") from None
    helpers, capabilities = frozenset(data.pop("helpers")), data.pop("capabilities")
    groups = tuple(
        Group(
            name=name,
            title=group["title"],
            needs=group.get("needs", ""),
            when=group.get("when", ""),
            words=tuple(_word(signature, meaning) for signature, meaning in group["words"].items()),
        )
        for name, group in data.items()
    )
    return Contract(groups=groups, capabilities=capabilities, helpers=helpers)


def _word(signature: str, meaning: str) -> Word:
    name, parenthesis, rest = signature.partition("(")
    listed = rest.partition(")")[0]
    parameters = tuple(x.strip() for x in listed.split(",") if x.strip()) if parenthesis else None
    return Word(name=name, signature=signature, parameters=parameters, meaning=meaning)
