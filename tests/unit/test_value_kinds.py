"""Names of values: a kind by its name, its bytes, or a type of its size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hsgen.core.errors import Usage
from hsgen.core.keys import TYPES, VALUES, value_kind
from hsgen.runners.arguments import value_name


class Torch:
    """A type of PyTorch by its text, which is all that hsgen reads of a type."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"torch.{self.name}"


@pytest.mark.parametrize("given", ["v4", 4, "4", "u32", "i32", "f32"])
def test_a_value_of_4_bytes_has_several_names(given: str | int) -> None:
    assert value_kind(given) == value_name(given) == "v4"


def test_every_kind_and_every_type_of_its_size_is_a_name() -> None:
    assert [value_kind(v) for v in VALUES] == [value_name(v) for v in VALUES] == list(VALUES)
    sizes = {"8": "v1", "16": "v2", "32": "v4", "64": "v8"}
    for name in TYPES:
        kind = sizes.get(name.lstrip("uifb"), "v1")
        if kind in VALUES:
            assert value_kind(name) == kind
        else:
            with pytest.raises(Usage, match=rf"^value {name}: has [12] bytes?; give none, v4, v8 or v16, "):
                value_kind(name)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (None, "none"),
        (np.uint8(4), "v4"),
        (np.int64(8), "v8"),
        (np.uint32, "v4"),
        (np.dtype(">f8"), "v8"),
        (np.dtype([("id", "u4"), ("at", "f4", 3)]), "v16"),
        (float, "v8"),
        ("u4", "v4"),
        ("complex128", "v16"),
        (Torch("float32"), "v4"),
        (Torch("int64"), "v8"),
    ],
)
def test_types_of_numpy_and_pytorch_and_numbers_of_numpy(given: Any, kind: str) -> None:
    assert value_name(given) == kind


@pytest.mark.parametrize(
    "given",
    [True, np.True_, 4.0, 0, -4, 2, 1 << 40, "u8", "f16", "v2", "", "x", np.uint16, Torch("bfloat16"), [4], b"4"],
)
def test_anything_else_is_refused_in_one_line(given: Any) -> None:
    """Names of keys come before those of numpy, whose u8 has 8 bytes and whose f16 has 16."""
    with pytest.raises(Usage, match=r"^value .*; give none, v4, v8 or v16, ") as refused:
        value_name(given)
    assert "\n" not in str(refused.value)
