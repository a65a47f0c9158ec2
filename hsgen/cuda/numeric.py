"""Kernels that sort floats in the numeric order of numpy and PyTorch: as they load keys, they replace NaNs and zeros.

The kernels' own order is IEEE 754 totalOrder: -NaN, -inf, ..., -0, +0, ..., inf, NaN.  In numeric order, all NaNs are
equal and greatest.  With values, -0 also equals +0, so that the values of zeros keep their order.  Without values, the
order of zeros does not matter.

A kernel in numeric order replaces keys as it loads them: every NaN by one NaN, and with values also -0 by +0.  Equal
keys therefore have equal bits in the output.
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
    """Return a function that changes a kernel's definitions so that the kernel works in numeric order.

    The function gets and returns the text that precedes the kernel.  If this text does not define `hs_twiddle_in` as
    expected, the function raises `Wrong`.

    key, value: the key type and the kind of values of the kernels.

    selects: whether the kernels are those of a selection.  A selection loads keys by `hs_raw_in`, without the key
    transform, and may transform a loaded key later.  In a selection, `hs_raw_in` therefore replaces NaNs and zeros too.
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
    """Return the mask of all bits but the sign bit, and the bits of infinity, for the float type `key`."""
    magnitude = (1 << (KEYS[TYPES[key].key].bits - 1)) - 1
    fraction = _FRACTIONS[TYPES[key].element]
    return magnitude, magnitude >> fraction << fraction


def nan(key: str) -> int:
    """Return the bits of the NaN that replaces every NaN of the float type `key` in numeric order."""
    return limits(key)[1] | 1 << (_FRACTIONS[TYPES[key].element] - 1)


def numeric(key: str, *, zeros: bool) -> str:
    """Return the definitions that replace NaNs of the float type `key`, and if `zeros` is True also -0 by +0."""
    magnitude, infinity = limits(key)
    return _NUMERIC.format(
        zeros=" and one zero" if zeros else "",
        magnitude=magnitude,
        zero="if (magnitude == 0) return 0;\n    " if zeros else "",
        infinity=infinity,
        nan=nan(key),
    )
