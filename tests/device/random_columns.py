"""Draws columns of tables and computes the order of their rows."""

from __future__ import annotations

import numpy as np

from hsgen.core.keys import KEYS, TYPES
from hsgen.operations.oracle import ordered


def column(rng: np.random.Generator, name: str, n: int) -> np.ndarray:
    """Keys of few distinct values, so that columns after it matter: with NaNs, infinities and zeros of both signs."""
    of = TYPES[name]
    width = KEYS[of.key].bytes
    if name == "bool":
        return rng.integers(0, 2, n).astype(bool)
    bits = rng.integers(0, 3, n).astype(f"u{width}") << np.uint8(8 * width - 2)
    special = rng.integers(0, np.iinfo(bits.dtype).max, 2, bits.dtype, endpoint=True)
    bits = np.where(rng.integers(0, 3, n) == 0, special[rng.integers(0, 2, n)], bits)
    if of.kind == 2:
        some = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan]).astype(
            "f4" if width == 2 else f"f{width}"
        )
        plain = (some.view("u4") >> 16).astype("u2") if name == "bf16" else some.astype(f"f{width}").view(f"u{width}")
        bits = np.where(rng.integers(0, 2, n) == 0, plain[rng.integers(0, 8, n)], bits)
    return bits.view(of.numpy)


def order_of(columns: list[np.ndarray], by: tuple[tuple[str, str], ...]) -> np.ndarray:
    """The stable order of rows, the first column most significant."""
    bits = [
        ordered(x.view(f"u{x.itemsize}"), TYPES[name].kind, descending=order == "descending")
        for x, (name, order) in zip(columns, by, strict=True)
    ]
    return np.lexsort(bits[::-1])


SHAPES = (
    (("u32", "ascending"),),
    (("f16", "descending"),),
    (("f32", "descending"), ("u64", "ascending")),
    (("i8", "ascending"), ("f16", "descending"), ("bool", "ascending")),
    (("u64", "ascending"), ("u64", "ascending")),
    (("u8", "ascending"), ("bf16", "descending"), ("i8", "ascending")),
    (("i32", "descending"), ("f32", "ascending")),
    (("u16", "ascending"), ("i32", "descending"), ("f32", "descending"), ("f16", "ascending"), ("u32", "ascending")),
    (("bf16", "ascending"), ("i16", "descending"), ("f64", "descending"), ("u8", "ascending")),
)
"""128-bit keys among them, as two columns, and columns that fill one, two or parts of words together."""
