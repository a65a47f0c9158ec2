"""Numbers as readable text: powers of two with a superscript, and sizes in KiB, MiB and so on."""

from __future__ import annotations

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def power_of_two(exponent: int) -> str:
    """Return 2 to the power of `exponent` as text, with the exponent as a superscript."""
    return f"2{str(exponent).translate(_RAISED)}"


def size(n: int) -> str:
    """Return `n` bytes as text, such as "1.52 MiB": three significant digits and the greatest unit up to `n`."""
    unit = min(max(n.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    if unit and round(n / (1 << 10 * unit)) == 1024 and unit + 1 < len(_UNITS):  # rounds up to the next unit
        unit += 1
    value = n / (1 << 10 * unit)
    digits = 0 if not unit or value >= 100 else 1 if value >= 10 else 2
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {_UNITS[unit]}"
