"""Widths and types of keys, kinds of values, orders, and the signature of a sort, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.errors import Usage, shown

BFLOAT16 = "bfloat16"
"""What array libraries call the upper halves of 32-bit floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyType:
    """Keys of one width as kernels see them: unsigned numbers, regardless of their type."""

    name: str
    bytes: int

    @property
    def bits(self) -> int:
        """The width of a key in bits."""
        return 8 * self.bytes

    @property
    def held(self) -> int:
        """The size in bytes of a key in a register or in local memory, at least 4."""
        return max(self.bytes, 4)

    @property
    def greatest(self) -> int:
        """The greatest key, as which slots at or beyond n are read."""
        return (1 << self.bits) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """A key type: its width, as a name in `KEYS`, and the interpretation of its bits.

    element: the name of such elements in array libraries.
    """

    name: str
    key: str
    kind: int  # 0 unsigned, 1 signed in two's complement, 2 float: sign, exponent, fraction
    element: str

    @property
    def numpy(self) -> str:
        """The name of the type in numpy; for bfloat16, which numpy lacks, that of its bits."""
        return self.element if self.element != BFLOAT16 else f"uint{self.key[1:]}"


KEYS = {f"u{8 * size}": KeyType(name=f"u{8 * size}", bytes=size) for size in (1, 2, 4, 8)}
"""The key widths by the name of the unsigned type."""

_KINDS = (("u", "uint"), ("i", "int"), ("f", "float"))
_FLOATS = ("u16", "u32", "u64")

_NAMES = [
    (f"{letter}{key[1:]}", key, kind, f"{word}{key[1:]}")
    for kind, (letter, word) in enumerate(_KINDS)
    for key in (_FLOATS if letter == "f" else KEYS)
]
_NAMES.insert(-2, ("bf16", "u16", 2, BFLOAT16))
_NAMES.append(("bool", "u8", 0, "bool"))

TYPES = {name: Type(name=name, key=key, kind=kind, element=element) for name, key, kind, element in _NAMES}
"""The key types by name; a bool is a byte, 0 or 1."""

ORDERS = ("ascending", "descending")

VALUES = {"none": 0, "v4": 4, "v8": 8, "v16": 16, "index": 4, "index64": 8, "packed": 0}
"""The kinds of values, with their size in bytes in a separate buffer: none; values of 4, 8 or 16 bytes; the original
index of each key (argsort); packed: the lower half of a 64-bit word whose upper half is the key."""

FEATURES = ("bit-range", "device-count", "run-boundaries", "segment-ends", "segment-count")
"""Optional features of a sort: a bit range chosen per call, a device-side count, a report of run boundaries, segments
with ends of their own, a number of segments in device memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a sort: what its kernels support beyond unsigned keys in ascending order.

    value: a name in `VALUES`.  key_transform: signed and float keys, and descending order.  bit_range: a bit range
    chosen per call.  device_count: a device-side count.  run_boundaries: a report of run boundaries.  epilogue: the
    text of an epilogue (`hsgen.stages.epilogue`); "" for none.  floats: kernels calculate with floats,
    those of values if there are any.  rows: kernels get the number of rows of a call, and how many keys to take of
    each; or the layouts of columns.  segment_ends: segments have ends of their own, which need not be where the next
    ones start.  segment_count: calls may take the number of segments from device memory.
    """

    value: str = "none"
    key_transform: bool = False
    bit_range: bool = False
    device_count: bool = False
    run_boundaries: bool = False
    epilogue: str = ""
    floats: bool = False
    rows: bool = False
    segment_ends: bool = False
    segment_count: bool = False

    @property
    def numbers(self) -> bool:
        """Whether kernels get two numbers after n and the argument: the bounds of the step, or those of `rows`."""
        return self.device_count or self.rows

    @property
    def value_bytes(self) -> int:
        """The size in bytes of a value in a separate buffer; 0 without one."""
        return VALUES[self.value]

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its optional features, in the order of `FEATURES`."""
        return tuple(name for name in FEATURES if getattr(self, name.replace("-", "_")))

    @property
    def followed(self) -> bool:
        """Whether a later step reads the sorted keys."""
        return self.run_boundaries or bool(self.epilogue)

    @property
    def index(self) -> bool:
        """Whether the values are the original indices of the keys, which kernels generate."""
        return self.value.startswith("index")


PLAIN = Signature()


def described(signature: Signature) -> str:
    """Return a signature as text, such as "with value v4, a bit range"; "" for plain keys."""
    words = (
        ["signed and float keys, both orders"] * signature.key_transform
        + ["a bit range"] * signature.bit_range
        + ["a device-side count"] * signature.device_count
        + ["floats"] * signature.floats
    )
    words += ["segment ends"] * signature.segment_ends + ["a device-side number of segments"] * signature.segment_count
    words += ["run boundaries"] * signature.run_boundaries
    words += ["an epilogue"] * bool(signature.epilogue)
    if signature.value != "none":
        words.insert(0, f"value {signature.value}")
    return f"with {', '.join(words)}" if words else ""


def value_kind(given: str | int) -> str:
    """Return the kind of values, a name in `VALUES`, that is given by its name, its bytes, or a key type of its size.

    So "v4", 4, "4", "u32", "i32" and "f32" are the same.

    Raises:
        Usage: there is no such kind.
    """
    name = str(given)
    if name in VALUES:
        return name
    size = str(KEYS[TYPES[name].key].bytes) if name in TYPES else name
    if f"v{size}" in VALUES:
        return f"v{size}"
    hint = "none, v4, v8 or v16, their bytes (4, 8, 16), a type of that size, index, index64 or packed"
    of = f"has {size} byte{'s' * (size != '1')}" if name in TYPES else "unknown"
    raise Usage(f"value {shown(given)}: {of}; give {hint}")
