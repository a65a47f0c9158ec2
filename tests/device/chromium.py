"""A headless Chromium with WebGPU on SwiftShader, driven through pipes by the DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu-sandbox",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",  # without which a canvas of WebGPU ends the GPU's process here
    "--use-vulkan=swiftshader",
    "--use-angle=swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-pipe",
)


class Chromium:
    """One page of a browser.  `console` collects errors and warnings, `failed` the addresses that did not load."""

    def __init__(self, program: str, profile: Path, *more: str) -> None:
        child_in, self._to = os.pipe()
        self._from, child_out = os.pipe()
        os.set_blocking(self._from, False)
        shell = ["bash", "-c", f'exec "$@" 3<&{child_in} 4>&{child_out}', "chromium"]
        command = [*shell, program, *OPTIONS, *more, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=(child_in, child_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(child_in)
        os.close(child_out)
        self._number, self._data, self._session = 0, b"", ""
        self.console: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError, RuntimeError, TimeoutError):
            self._session = ""
            self.call("Browser.close", limit=5)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._data:
            if time.monotonic() > until:
                raise TimeoutError("Chromium does not answer")
            try:
                more = os.read(self._from, 1 << 20)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            if not more:
                raise RuntimeError("Chromium ended")
            self._data += more
        text, _, self._data = self._data.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, said: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(said["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.console.append(" ".join(str(a.get("value", a.get("description"))) for a in said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.console.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")

    def call(self, method: str, limit: float = 60, **params: Any) -> dict[str, Any]:
        """Return the answer to a command of the protocol; `limit` is in seconds."""
        self._number += 1
        session = {"sessionId": self._session} if self._session else {}
        request = {"id": self._number, "method": method, "params": params, **session}
        os.write(self._to, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + limit
        while True:
            message = self._message(until)
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                answer: dict[str, Any] = message["result"]
                return answer

    def view(self, width: int, height: int, *, dark: bool = False, still: bool = False) -> None:
        """Set the size of the page, and what the visitor prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}
        self.call("Emulation.setEmulatedMedia", features=[scheme, motion])

    def open(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        self.call("Page.navigate", url=address)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """Return the value of an expression, or what its promise comes to."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(json.dumps(got["exceptionDetails"])[:500])
        return got["result"].get("value")

    def wait(self, condition: str, limit: float = 120) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + limit
        while not self.value(condition):
            if time.monotonic() > until:
                raise TimeoutError(f"not within {limit} s: {condition}; {self.console}")
            time.sleep(0.1)

    def press(self, key: str, code: str = "") -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, **text)

    def picture(self, path: Path, *, whole: bool = False) -> Path:
        """Store a picture of the page as a PNG file."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path
