"""Holds the options with which clang compiles Objective-C against declarations of Metal."""

from __future__ import annotations

from pathlib import Path

APPLE = Path(__file__).with_name("apple")
MODES = {
    "device_count": ("-xobjective-c", "-std=c99", "-fobjc-arc", "-fobjc-runtime=macosx-11.0"),
    "by-hand": ("-xobjective-c", "-std=c99", "-fno-objc-arc", "-fobjc-runtime=macosx-11.0"),
    "c++": ("-xobjective-c++", "-std=c++17", "-fobjc-arc", "-fobjc-runtime=macosx-11.0"),
}
"""With and without automatic reference counting, and as Objective-C++."""
