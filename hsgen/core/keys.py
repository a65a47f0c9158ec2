"""Key widths (u32), key types (f32), kinds of values, orders, and the signature of a sort: what its calls may use."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.core.errors import Usage, shown

BFLOAT16 = "bfloat16"
"""The name that array libraries use for floats that are the upper half of a 32-bit float."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyType:
    """A key width, such as u32.  Kernels sort unsigned numbers of this width, into which they transform other keys."""

    name: str
    bytes: int

    @property
    def bits(self) -> int:
        """The width of a key in bits."""
        return 8 * self.bytes

    @property
    def held(self) -> int:
        """The size in bytes that a key takes in a register or in local memory, at least 4."""
        return max(self.bytes, 4)

    @property
    def greatest(self) -> int:
        """The greatest key; kernels pad the last tile with it, where key indices are n or more."""
        return (1 << self.bits) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """A key type: a key width, and the meaning of the bits.

    key: the key width, a name in `KEYS`.
    element: the name of the type in array libraries.
    """

    name: str
    key: str
    kind: int  # 0: unsigned; 1: signed, in two's complement; 2: float, with sign, exponent and fraction
    element: str

    @property
    def numpy(self) -> str:
        """The name of the numpy type that holds such keys; uint16 for bfloat16, which numpy lacks."""
        return self.element if self.element != BFLOAT16 else f"uint{self.key[1:]}"


KEYS = {f"u{8 * size}": KeyType(name=f"u{8 * size}", bytes=size) for size in (1, 2, 4, 8)}
"""The key widths, by the name of the unsigned type of that width."""

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
"""The key types by name.  A bool is a byte with the value 0 or 1."""

ORDERS = ("ascending", "descending")

VALUES = {"none": 0, "v4": 4, "v8": 8, "v16": 16, "index": 4, "index64": 8, "packed": 0}
"""The kinds of values, each with the size in bytes of a value in a separate buffer; 0 if there is no such buffer.

none: keys without values.
v4, v8, v16: values of 4, 8 or 16 bytes.
index, index64: the value is the original index of the key, of 4 or 8 bytes (an argsort).
packed: the value is the lower half of a 64-bit word, and the key is the upper half.
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

bit-range: each call selects a bit range.
device-count: a call may read the count from device memory.
run-boundaries: the sort reports run boundaries.
segment-ends: device memory has the end of each segment, so gaps between segments are allowed.
segment-count: a call may read the number of segments from device memory.

The other features concern the rows of a selection:
row-lengths: device memory has the length of each row.
row-starts: device memory has the start of each row.
row-takes: device memory has the number of keys to take from each row.
row-count: device memory has the number of rows.
value-starts: device memory has the index of the first value of each row.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The options that calls of a sort may use, in addition to a sort of unsigned keys in ascending order.

    value: a name in `VALUES`.
    key_transform: whether calls may have signed or float keys, and descending order.
    epilogue: the text of an epilogue (`hsgen.stages.epilogue`); "" if there is none.
    floats: whether kernels calculate with floats, as sums do.  The floats are the values, or the keys if the sort has
    no values.
    rows: whether kernels receive two further numbers, which describe rows or columns.  In a selection (top-k), they are
    the number of rows and the number of keys to take from each row.  In a pack, they are the layouts of its columns.
    Each of the other fields is true if the sort has the feature of that name in `FEATURES`.
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
        """Whether kernels receive two numbers after n and the argument.

        If `rows` is true, they are the numbers described there.  Otherwise the count is in device memory.  The numbers
        are then the bounds of the step's guard; the kernel returns at once if the count lies outside them.
        """
        return self.device_count or self.rows

    @property
    def value_bytes(self) -> int:
        """The size in bytes of a value in a separate buffer; 0 if there is no such buffer."""
        return VALUES[self.value]

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the optional features, in the order of `FEATURES`."""
        return tuple(name for name in FEATURES if getattr(self, name.replace("-", "_")))

    @property
    def followed(self) -> bool:
        """Whether a stage after the sort reads the sorted keys, to report run boundaries or as an epilogue."""
        return self.run_boundaries or bool(self.epilogue)

    @property
    def of_rows(self) -> bool:
        """Whether the sort is a selection (top-k) that loads facts about its rows, such as lengths, from buffers."""
        return self != self.of_equal_rows

    @property
    def of_equal_rows(self) -> Signature:
        """The same signature with the last five fields False: that of a selection from rows of equal length."""
        return replace(self, row_lengths=False, row_starts=False, row_takes=False, row_count=False, value_starts=False)

    @property
    def fills(self) -> bool:
        """Whether a row of a selection may have fewer keys than the call takes, so that kernels pad the results."""
        return self.row_lengths or self.row_takes

    @property
    def index(self) -> bool:
        """Whether the values are the original indices of the keys, which kernels compute instead of loading them."""
        return self.value.startswith("index")


PLAIN = Signature()


def described(signature: Signature) -> str:
    """Return a signature as text, such as "with value v4, a bit range"; "" if it has no features."""
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
    """Return the kind of values, a name in `VALUES`, for a user's argument `value`.

    value: the name itself, the size of a value in bytes, or a key type of that size.  For example, "v4", 4, "4", "u32",
    "i32" and "f32" all give "v4".

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
