"""The buffers that kernels of several algorithms have, each by the name that templates know it by."""

from __future__ import annotations

from hsgen.core.kernels import Buffer

SOURCE, DESTINATION = Buffer(name="source", read_only=True), Buffer(name="destination")
VALUES_IN = Buffer(name="values_in", type="value", read_only=True)
VALUES_OUT, VALUES_TMP = Buffer(name="values_out", type="value"), Buffer(name="values_tmp", type="value")
DEVICE_N = Buffer(name="device_n", type="word", read_only=True)
