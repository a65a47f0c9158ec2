"""Key widths, key types, kinds of values, orders, and the signature of a sort, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.core.errors import Usage, shown

BFLOAT16 = "bfloat16"
"""The name in array libraries of floats that are the upper half of a 32-bit float."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyType:
    """The keys of one width as kernels process them: unsigned numbers, regardless of the key type."""

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
        """The greatest key; kernels use it instead of the keys at or beyond n."""
        return (1 << self.bits) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """A key type: its width, as a name in `KEYS`, and the interpretation of its bits.

    element: the name of the type in array libraries.
    """

    name: str
    key: str
    kind: int  # 0 unsigned, 1 signed in two's complement, 2 float: sign, exponent, fraction
    element: str

    @property
    def numpy(self) -> str:
        """The name of the type in numpy.  numpy lacks bfloat16; its bits are uint16."""
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
"""The key types by name; a bool is a byte with the value 0 or 1."""

ORDERS = ("ascending", "descending")

VALUES = {"none": 0, "v4": 4, "v8": 8, "v16": 16, "index": 4, "index64": 8, "packed": 0}
"""The kinds of values, each with its size in bytes in a separate buffer.

v4, v8, v16: values of 4, 8 or 16 bytes.  index, index64: the original index of each key (argsort).  packed: the value
is the lower half of a 64-bit word, the key is the upper half.
"""

FEATURES = (
    "bit-range",
    "device-count",
    "run-boundaries",
    "segment-ends",
    "segment-count",
    "row-lengths",
    "row-starts",
    "row-takes",
    "row-count",
    "value-starts",
)
"""The optional features of a sort.

bit-range: each call selects a bit range.  device-count: the count is in device memory.  run-boundaries: a report of run
boundaries.  segment-ends: segments have separate ends.  segment-count: the number of segments is in device memory.
row-lengths: rows of a selection have separate lengths.  row-starts: these rows also have separate starts.
row-takes: each row has its number of keys to take.  row-count: the number of rows is in device memory.  value-starts:
the values of a row start at a separate index.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a sort: the features of its kernels beyond unsigned keys in ascending order.

    value: a name in `VALUES`.
    key_transform: signed and float keys, and descending order.
    bit_range: each call selects a bit range.
    device_count: the count is in device memory.
    run_boundaries: the sort reports run boundaries.
    epilogue: the text of an epilogue (`hsgen.stages.epilogue`); "" for none.
    floats: kernels calculate with floats: the values, or the keys if the sort has no values.
    rows: kernels receive two more numbers: the number of rows of a call and the number of keys to take from each row,
    or the layouts of columns.
    segment_ends: segments have separate ends, so gaps between segments are allowed.
    segment_count: a call may read the number of segments from device memory.
    row_lengths: rows have separate lengths.
    row_starts: rows have separate starts.
    row_takes: rows have separate numbers of keys to take.
    row_count: the number of rows is in device memory.
    value_starts: the values of a row have a separate start.
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
    row_lengths: bool = False
    row_starts: bool = False
    row_takes: bool = False
    row_count: bool = False
    value_starts: bool = False

    @property
    def numbers(self) -> bool:
        """Whether kernels receive two numbers after n and the argument: the bounds of the step, or the numbers that
        `rows` describes.
        """
        return self.device_count or self.rows

    @property
    def value_bytes(self) -> int:
        """The size in bytes of a value in a separate buffer; 0 without such a buffer."""
        return VALUES[self.value]

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the optional features, in the order of `FEATURES`."""
        return tuple(name for name in FEATURES if getattr(self, name.replace("-", "_")))

    @property
    def followed(self) -> bool:
        """Whether a stage after the sort reads the sorted keys."""
        return self.run_boundaries or bool(self.epilogue)

    @property
    def of_rows(self) -> bool:
        """Whether device memory holds numbers for the rows of a selection, such as their lengths."""
        return self != self.of_equal_rows

    @property
    def of_equal_rows(self) -> Signature:
        """The signature without the features of rows of a selection."""
        return replace(self, row_lengths=False, row_starts=False, row_takes=False, row_count=False, value_starts=False)

    @property
    def fills(self) -> bool:
        """Whether a row may have fewer results than the call takes from each row; the kernels then fill the rest of the
        row.
        """
        return self.row_lengths or self.row_takes

    @property
    def index(self) -> bool:
        """Whether the values are the original indices of the keys; kernels generate such values."""
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
    words += ["row lengths"] * signature.row_lengths + ["row starts"] * signature.row_starts
    words += ["row takes"] * signature.row_takes + ["a device-side number of rows"] * signature.row_count
    words += ["value starts"] * signature.value_starts
    words += ["run boundaries"] * signature.run_boundaries
    words += ["an epilogue"] * bool(signature.epilogue)
    if signature.value != "none":
        words.insert(0, f"value {signature.value}")
    return f"with {', '.join(words)}" if words else ""


def value_kind(value: str | int) -> str:
    """Return a kind of values as a name in `VALUES`.

    value: the name, the size in bytes, or a key type of this size.  "v4", 4, "4", "u32", "i32" and "f32" have the same
    result.

    Raises:
        Usage: there is no such kind.
    """
    name = str(value)
    if name in VALUES:
        return name
    size = str(KEYS[TYPES[name].key].bytes) if name in TYPES else name
    if f"v{size}" in VALUES:
        return f"v{size}"
    hint = "none, v4, v8 or v16, their bytes (4, 8, 16), a type of that size, index, index64 or packed"
    of = f"has {size} byte{'s' * (size != '1')}" if name in TYPES else "unknown"
    raise Usage(f"value {shown(value)}: {of}; give {hint}")
