"""Communication between ranks, the members of a process group: the methods that a process group must have, and
functions by which all ranks raise an error if one rank has an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import HsgenError, Usage, Wrong, printable

Words = NDArray[np.int64]
"""64-bit numbers that ranks exchange through the host: counts, sizes and status words."""

Span = tuple[int, int]
"""A part of an array: the index of its first item, and the index after its last item."""

_TEXT = 64  # length of a text that ranks exchange, in 64-bit words: 512 bytes
_SEPARATOR = "\x1f"


class Communicator(ABC):
    """The interface of a rank, a member of a process group, to all others.  All ranks must call the same methods in the
    same order.

    rank: the number of this rank.  size: the number of ranks.  unit: the alignment in bytes, a power of two, at which
    the group transfers parts of arrays fastest.  small: if all shards together have at most this number of bytes, every
    rank receives and sorts all of them.  The size of all shards together is taken to be that of the longest shard times
    the number of ranks.
    """

    rank: int
    size: int
    unit: int = 1
    small: int = 0

    @abstractmethod
    def gather(self, words: Any) -> Words:
        """Gather `words`, the 64-bit numbers of this rank, from all ranks; return them, shape (size, len(words)).  All
        ranks pass the same number of words.

        words: an array of numpy, or of the library of the shards.  With an array of numpy, the call does not wait for
        work that is enqueued on the device.
        """

    def gather_later(self, words: Words) -> Callable[[], Words]:
        """Start a `gather`; return a function that waits for its result."""
        rows = self.gather(words)
        return lambda: rows

    @abstractmethod
    def gather_rows(self, words: Any) -> Any:
        """Return the result of `gather` as an array like `words`: of the same library, on the same device."""

    @abstractmethod
    def gather_arrays(self, arrays: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """Concatenate each array over all ranks, in the order of ranks; return the results, the same on every rank.

        lengths: the number of items that each rank has in each of its arrays.
        """

    @abstractmethod
    def exchange(self, source: Any, sent: Sequence[Span], out: Any, received: Sequence[Span]) -> None:
        """Send a part of `source` to each rank, and store the received parts in `out`.

        sent: for each rank, the span of `source` that this rank sends to it.  received: for each rank, the span of
        `out` that receives its part.  In an array with more dimensions, an item is array[i].
        """

    def exchange_later(
        self, source: Any, sent: Sequence[Span], out: Any, received: Sequence[Span]
    ) -> Callable[[], None]:
        """Start an `exchange`; return a function to call before `out` is used.

        Work that is enqueued on the device after a call of this function runs only once `out` has all parts.
        """
        self.exchange(source, sent, out, received)
        return lambda: None


def agree(comm: Communicator, error: Exception | None, words: Sequence[int] = ()) -> Words:
    """Return the words of every rank, shape (size, len(words)); if any rank has an error, raise an error on all ranks.

    Raises:
        Exception: `error`, if this rank has one.
        Wrong: another rank has an error.
    """
    rows = comm.gather(np.array([error is not None, *words], np.int64))
    if rows[:, 0].any():
        raise_together(comm, error)
    return rows[:, 1:]


def raise_together(comm: Communicator, error: Exception | None) -> None:
    """Raise the error of this rank, or else an error that names the first rank with an error.

    If any rank has an error, every rank must call this function.

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
    """Start to gather the `words` of all ranks, and to check that `facts`, such as the key type, are equal on all
    ranks.

    Return a function that waits for the end of both, and returns the words of every rank.  Together with the words,
    ranks exchange a digest of their facts.  Only if digests differ, ranks exchange the facts, for the message.

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
    """Return a message that names the first of the facts that is not equal on all ranks."""
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
    """Gather the text that each rank passes; return the texts in the order of ranks."""
    return [_decoded(row) for row in comm.gather(np.array(_encoded(text), np.int64))]


def _encoded(text: str) -> list[int]:
    """Return a text as `_TEXT` 64-bit words; all bytes beyond these are cut off."""
    data = text.encode("utf-8", "replace")[: 8 * _TEXT].ljust(8 * _TEXT, b"\0")
    return [int(x) for x in np.frombuffer(data, np.int64)]


def _decoded(words: Words) -> str:
    return np.ascontiguousarray(words).tobytes().rstrip(b"\0").decode("utf-8", "replace")
