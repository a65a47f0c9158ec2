"""What is sorted, and how: widths and types of keys, values, orders, and the form of a sort.  Plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyType:
    """Keys of one width as the kernels see them: unsigned numbers, whatever type they are of."""

    name: str
    bytes: int

    @property
    def bits(self) -> int:
        """The bits of a key."""
        return 8 * self.bytes

    @property
    def held(self) -> int:
        """The bytes of a key in a register or in local memory; narrow ones are held as words."""
        return max(self.bytes, 4)

    @property
    def greatest(self) -> int:
        """The greatest key; what a slot at or beyond n reads as."""
        return (1 << self.bits) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """A type of keys: the width `key` that sorts it, and how its bits are to be understood."""

    name: str
    key: str
    kind: int  # 0 unsigned, 1 signed in two's complement, 2 IEEE 754 float

    @property
    def numpy(self) -> str:
        """numpy's name of the type."""
        return f"{'uif'[self.kind]}{int(self.name[1:]) // 8}"


KEYS = {f"u{8 * size}": KeyType(name=f"u{8 * size}", bytes=size) for size in (1, 2, 4, 8)}
"""The widths of keys, each by the name of its unsigned type."""

TYPES = {
    f"{letter}{key[1:]}": Type(name=f"{letter}{key[1:]}", key=key, kind=kind)
    for kind, letter in enumerate("uif")
    for key in KEYS
    if (letter, key) != ("f", "u8")
}
"""Every type of keys."""

ORDERS = ("ascending", "descending")

VALUES = {"none": 0, "v4": 4, "v8": 8, "v16": 16, "index": 4, "index64": 8, "packed": 0}
"""What is sorted along with each key, and its bytes in a buffer of its own: nothing, a value of 4, 8 or 16 bytes, the
place that the key had (an argsort), or, packed, the lower half of the 64-bit word whose upper half is the key."""

FEATURES = ("range", "count", "run_boundaries")
"""What a sort may be generated with besides: a bit range chosen at the call, a count that lies on the device, a
report of where the sorted keys change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a sort is made for beyond unsigned keys in ascending order.

    value: a name in `VALUES`.  key_transform: signed and float keys, and descending order.  bit_range: a bit range given at the
    call.  device_count: a count that lies on the device.  run_boundaries: it tells where runs of equal keys begin.  epilogue: the
    text of what is done with every sorted key, see `hsgen.stages.epilogue`; none if empty.
    """

    value: str = "none"
    key_transform: bool = False
    bit_range: bool = False
    device_count: bool = False
    run_boundaries: bool = False
    epilogue: str = ""

    @property
    def value_bytes(self) -> int:
        """The bytes of a value in a buffer of its own; 0 where there is none."""
        return VALUES[self.value]

    @property
    def features(self) -> tuple[str, ...]:
        """The names of what it was generated with besides, in the order of `FEATURES`."""
        have = zip(FEATURES, (self.bit_range, self.device_count, self.run_boundaries), strict=True)
        return tuple(name for name, has in have if has)

    @property
    def followed(self) -> bool:
        """Whether something looks at the sorted keys behind the sort."""
        return self.run_boundaries or bool(self.epilogue)

    @property
    def index(self) -> bool:
        """Whether values are not read but made: the places that the keys had."""
        return self.value.startswith("index")


PLAIN = Signature()


def described(signature: Signature) -> str:
    """Return what a form is, in words for people; "" for plain keys."""
    words = (
        ["key_transform"] * signature.key_transform
        + ["a bit range"] * signature.bit_range
        + ["a count on the device"] * signature.device_count
    )
    words += ["runs of equal keys told"] * signature.run_boundaries + ["an epilogue"] * bool(signature.epilogue)
    if signature.value != "none":
        words.insert(0, f"value {signature.value}")
    return f"with {', '.join(words)}" if words else ""
