"""Make pipelines of all kernels in WGSL files through wgpu; the last line is a JSON object of problems by file."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import wgpu

adapter = wgpu.gpu.request_adapter_sync()
limits = {"max-compute-workgroup-storage-size": 32768, "max-storage-buffers-per-shader-stage": 16}
device = adapter.request_device_sync(
    required_features=[f for f in adapter.features if f.startswith("subgroup")], required_limits=limits
)
problems = {}
for path in sys.argv[1:]:
    code = Path(path).read_text(encoding="utf-8")
    try:
        module = device.create_shader_module(code=code)
        for name in re.findall(r"@workgroup_size\(\d+\)\s+fn (\w+)", code):
            device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": name})
    except wgpu.GPUError as e:
        problems[path] = str(e)[:2000]
print(json.dumps(problems))
