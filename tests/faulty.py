"""Engines that sort wrongly, around one that sorts."""

from __future__ import annotations

from typing import Any


class Faulty:
    """An engine that does everything as another one."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class Spoiled(Faulty):
    """An engine that corrupts one element of the data that it reads from one buffer."""

    def __init__(self, engine: Any, slot: int, *, element: int = 0) -> None:
        super().__init__(engine)
        self._slot, self._element = slot, element

    def read(self, slot: int, image: Any) -> None:
        self._engine.read(slot, image)
        if slot == self._slot:
            image.reshape(-1)[self._element] ^= 1


class Idle(Faulty):
    """An engine that sorts nothing."""

    def run(self, *_: Any) -> None:
        """Do nothing."""
