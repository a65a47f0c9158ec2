"""Sorting and merging networks as lists of comparators.

A comparator (i, j) compares the values at i and j, and puts the smaller value at i and the greater value at j.  i may
exceed j.
``tests/unit/test_networks.py`` proves all networks by the 0-1 principle (Knuth, TAOCP 3, 5.3.4).
"""

from __future__ import annotations

from collections.abc import Iterable

Comparator = tuple[int, int]
Network = tuple[Comparator, ...]


def pow2_ceil(n: int) -> int:
    """Return the least power of two that is at least `n` (n >= 1)."""
    return 1 << (n - 1).bit_length()


def pow2_floor(n: int) -> int:
    """Return the greatest power of two that is at most `n` (n >= 1)."""
    return 1 << (n.bit_length() - 1)


def odd_part(n: int) -> int:
    """Return `n` without its factors of two (n >= 1)."""
    return n // (n & -n)


def sorting(n: int) -> Network:
    """Return Batcher's merge exchange (TAOCP 3, 5.2.2, algorithm M), a network that sorts `n` values for any n."""
    out: list[Comparator] = []
    p = pow2_ceil(n) // 2 if n > 1 else 0
    top = p
    while p > 0:
        q, r, d = top, 0, p
        while True:
            out.extend((i, i + d) for i in range(n - d) if i & p == r)
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2
    return tuple(out)


def halves(n: int) -> Network:
    """Return half-cleaners of distances n/2, n/4, ..., 1, which sort a bitonic sequence of n = 2^k values."""
    out: list[Comparator] = []
    d = n // 2
    while d:
        out.extend((i, i + d) for i in range(n) if not i & d)
        d //= 2
    return tuple(out)


def bitonic_merge(n: int) -> Network:
    """Return a network that sorts any bitonic sequence of `n` values, for any n.

    The elements of even index form a bitonic sequence, and so do the elements of odd index.  The network sorts both, by
    recursion, and then compares adjacent elements.  The half-cleaners for the next power of two, without comparators
    that reach beyond n, are no substitute: they fail for some rotations of a bitonic sequence.
    """

    def merge(at: tuple[int, ...]) -> list[Comparator]:
        if len(at) <= 1:
            return []
        if len(at) == 2:
            return [(at[0], at[1])]
        if len(at) == 3:
            return [(at[0], at[1]), (at[1], at[2]), (at[0], at[1])]
        out = merge(at[::2]) + merge(at[1::2])
        if len(at) % 2:
            out.extend((at[i], at[i + 1]) for i in range(1, len(at) - 1, 2))
        out.extend((at[i], at[i + 1]) for i in range(0, len(at) - 1, 2))
        return out

    return layered(merge(tuple(range(n))))


def layered(network: Iterable[Comparator]) -> Network:
    """Return the same network, with its comparators sorted by depth, then by index.

    The depth of a comparator is the length of the longest chain of dependent comparators that ends with it.
    """
    depth: dict[int, int] = {}
    layers: dict[int, list[Comparator]] = {}
    for i, j in network:
        depth[i] = depth[j] = 1 + max(depth.get(i, 0), depth.get(j, 0))
        layers.setdefault(depth[i], []).append((i, j))
    return tuple(c for d in sorted(layers) for c in sorted(layers[d]))


def mirrored(network: Network, n: int, shift: int) -> Network:
    """Return `network` for `n` values that lie in reverse order in the registers `shift` to shift + n - 1."""
    return tuple((shift + n - 1 - i, shift + n - 1 - j) for i, j in network)
