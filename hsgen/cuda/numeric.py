"""The numeric order of floats, as in numpy and PyTorch, by a change to the text of kernels.

The kernels' own order is IEEE 754 totalOrder: -NaN, -inf, ..., -0, +0, ..., inf, NaN.  In numeric order, all NaNs are
equal and greatest.  With values, -0 also equals +0, so that equal keys keep their order.  Without values, the order of
zeros does not matter.  When a kernel reads a key, it replaces each NaN by the same NaN, and with values -0 by +0.
Equal keys therefore have equal bits in the output.
"""

from __future__ import annotations

from collections.abc import Callable

from hsgen.core.errors import Wrong
from hsgen.core.keys import BFLOAT16, KEYS, TYPES
from hsgen.dialects import definitions

_FRACTIONS = {"float16": 10, BFLOAT16: 7, "float32": 23, "float64": 52}
WORD, RAW, HELPER = "hs_twiddle_in", "hs_raw_in", "hs_numeric"
_TAKEN = "#define hs_twiddle_in(x) hs_raw_twiddle((hs_key)(x))\n"
_RAW_TAKEN = "#define hs_raw_in(x) ((hs_key)(x))\n"
_RAW_NUMERIC = "#define hs_raw_in(x) hs_numeric((hs_key)(x))\n"
_NUMERIC = """// a key with one NaN{zeros} for all
static __device__ __forceinline__ hs_key hs_numeric(hs_key key)
{{
    const hs_key magnitude = key & (hs_key){magnitude:#x}ull;
    {zero}return magnitude > (hs_key){infinity:#x}ull ? (hs_key){nan:#x}ull : key;
}}
#define hs_twiddle_in(x) hs_raw_twiddle(hs_numeric((hs_key)(x)))
"""


def rewriting(key: str, value: str, *, selects: bool = False) -> Callable[[str], str]:
    """Return a function that rewrites the definitions of kernels for numeric order.

    key, value: the key type and the kind of values of the kernels.

    selects: whether the kernels are those of a selection, which also transforms keys that it has already read
    untransformed.  The function raises `Wrong` if it does not know the definitions.
    """
    kind = TYPES[key]
    if kind.kind < 2:
        return str
    definition = numeric(key, zeros=value != "none") + (_RAW_NUMERIC if selects else "")

    def rewrite(prelude: str) -> str:
        words = definitions.split(prelude)
        raw = [d.text for d in words if RAW in d.names]
        if [d.text for d in words if WORD in d.names] != [_TAKEN] or (raw and raw != [_RAW_TAKEN]):
            raise Wrong(f"keys of {key}: the definitions of kernels do not have the words for a numeric order")
        return definitions.overridden(prelude, definition, (HELPER,), ())

    return rewrite


def limits(key: str) -> tuple[int, int]:
    """Return two numbers of a float type: the mask of all bits but the sign, and the bits of infinity."""
    magnitude = (1 << (KEYS[TYPES[key].key].bits - 1)) - 1
    fraction = _FRACTIONS[TYPES[key].element]
    return magnitude, magnitude >> fraction << fraction


def nan(key: str) -> int:
    """Return the bits by which kernels in numeric order replace every NaN of a float type."""
    return limits(key)[1] | 1 << (_FRACTIONS[TYPES[key].element] - 1)


def numeric(key: str, *, zeros: bool) -> str:
    """Return the definitions for keys of a float type; zeros: whether -0 becomes +0."""
    magnitude, infinity = limits(key)
    return _NUMERIC.format(
        zeros=" and one zero" if zeros else "",
        magnitude=magnitude,
        zero="if (magnitude == 0) return 0;\n    " if zeros else "",
        infinity=infinity,
        nan=nan(key),
    )
