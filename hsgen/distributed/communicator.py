"""Communication between ranks: the operations that a process group supplies, and agreement on errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import HsgenError, Usage, Wrong, printable

Words = NDArray[np.int64]
"""Numbers that ranks exchange through the host: counts, sizes and status words, 64 bits each."""

Span = tuple[int, int]
"""The index of the first item of a part of an array, and the index after its last item."""

_TEXT = 64  # 64-bit words of a text that ranks exchange: 512 bytes
_SEPARATOR = "\x1f"


class Communicator(ABC):
    """A rank of a process group.

    All ranks call the same methods in the same order.

    rank: the number of this rank.  size: the number of ranks.  unit: the alignment in bytes with which parts of arrays
    travel fastest, a power of two.  small: up to this many bytes in total, every rank receives and sorts all shards.
    The total counts each shard as if it were as long as the longest shard.
    """

    rank: int
    size: int
    unit: int = 1
    small: int = 0

    @abstractmethod
    def gather(self, words: Any) -> Words:
        """Return the words of every rank, shape (size, len(words)); all ranks pass the same number of words.

        words: an array of numpy, or of the library of the shards.  With an array of numpy, the call does not wait for
        the device's work.
        """

    def gather_later(self, words: Words) -> Callable[[], Words]:
        """Start a `gather`; return a function that waits for its result."""
        rows = self.gather(words)
        return lambda: rows

    @abstractmethod
    def gather_rows(self, words: Any) -> Any:
        """Return the result of `gather` as an array of the library of `words`, on the device of `words`."""

    @abstractmethod
    def gather_arrays(self, arrays: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """Return for each array the concatenation of that array on all ranks, in the order of ranks.

        lengths: the number of items of each rank.
        """

    @abstractmethod
    def exchange(self, source: Any, sent: Sequence[Span], out: Any, received: Sequence[Span]) -> None:
        """Send a part of `source` to each rank, and store the parts received in `out`.

        sent: for each rank, the span of `source` that this rank sends to it.  received: for each rank, the span of
        `out` that receives its part.  In an array with more dimensions, an item is array[i].
        """

    def exchange_later(
        self, source: Any, sent: Sequence[Span], out: Any, received: Sequence[Span]
    ) -> Callable[[], None]:
        """Start an `exchange`; return a function that ends it.

        Work that the device gets after a call of the function waits until `out` has all parts.
        """
        self.exchange(source, sent, out, received)
        return lambda: None


def agree(comm: Communicator, error: Exception | None, words: Sequence[int] = ()) -> Words:
    """Return the words of every rank, shape (size, len(words)); raise an error if any rank has one.

    Raises:
        Exception: `error`, if this rank has one.
        Wrong: another rank has an error.
    """
    rows = comm.gather(np.array([error is not None, *words], np.int64))
    if rows[:, 0].any():
        raise_together(comm, error)
    return rows[:, 1:]


def raise_together(comm: Communicator, error: Exception | None) -> None:
    """Raise the error of this rank, or else an error that names the first rank with one; all ranks call this function.

    Raises:
        Exception: `error`, or `Wrong`.
    """
    texts = _texts(comm, "" if error is None else _sentence(error))
    if error is not None:
        raise error
    rank = next(i for i, text in enumerate(texts) if text)
    raise Wrong(f"rank {rank}: {printable(texts[rank])}")


def compare_later(
    comm: Communicator, error: Exception | None, words: Sequence[int], facts: Mapping[str, str]
) -> Callable[[], Words]:
    """Start a comparison of `facts` between ranks; return a function that waits for it and returns the words of every
    rank.

    Digests of facts travel with the words.  The texts travel only if digests differ.

    Raises (the returned function):
        Exception, Wrong: as `agree`.
        Usage: facts differ; every rank raises the same sentence.
    """
    text = _SEPARATOR.join(part for item in facts.items() for part in item)
    digest = int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little", signed=True)
    read = comm.gather_later(np.array([error is not None, digest, *words], np.int64))

    def wait() -> Words:
        rows = read()
        if rows[:, 0].any():
            raise_together(comm, error)
        if (rows[:, 1] != rows[0, 1]).any():
            raise Usage(_difference([x.split(_SEPARATOR) for x in _texts(comm, text)]))
        return rows[:, 2:]

    return wait


def _difference(texts: Sequence[Sequence[str]]) -> str:
    """Return the sentence about the first fact that differs between ranks."""
    all_facts = [dict(zip(x[::2], x[1::2], strict=False)) for x in texts]
    for name in dict.fromkeys(name for facts in all_facts for name in facts):
        values = [facts.get(name, "absent") for facts in all_facts]
        rank = next((i for i, x in enumerate(values) if x != values[0]), 0)
        if rank:
            return f"{name}: {values[0]} on rank 0, {values[rank]} on rank {rank}; give the same on every rank"
    return "ranks differ in the order of their arguments"


def _sentence(error: Exception) -> str:
    """Return an error as one line."""
    text = " ".join(str(error).split())
    plain = isinstance(error, HsgenError | TypeError | ValueError) and text
    return text if plain else f"{type(error).__name__}: {text}"


def _texts(comm: Communicator, text: str) -> list[str]:
    """Return the texts of every rank."""
    return [_decoded(row) for row in comm.gather(np.array(_encoded(text), np.int64))]


def _encoded(text: str) -> list[int]:
    """Return a text as `_TEXT` words; a longer text is cut."""
    data = text.encode("utf-8", "replace")[: 8 * _TEXT].ljust(8 * _TEXT, b"\0")
    return [int(x) for x in np.frombuffer(data, np.int64)]


def _decoded(words: Words) -> str:
    return np.ascontiguousarray(words).tobytes().rstrip(b"\0").decode("utf-8", "replace")
