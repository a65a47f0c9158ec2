"""Sorts of fewer keys than their capacity on fibers of the host: scratch is that of the capacity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from every import WHOLE, sort_of
from on_host import compiled, right

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature


@pytest.mark.nightly
def test_the_most_keys_of_one_portion_in_a_larger_capacity(tmp_path: Path) -> None:
    """Up to 51328 keys, a pass is one launch with states of all tiles; passes over more keys are several launches."""
    sort = sort_of("pieces8.toml", "radix", "u8", Signature(**WHOLE))
    keys = np.random.default_rng(1).integers(0, 256, 51300, np.uint8)
    assert right(compiled(sort, tmp_path), keys, Options(device_count=True), in_place=False, seed=1, n=80000)
