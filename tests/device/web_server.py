"""A server for pages on localhost that keeps what they post."""

from __future__ import annotations

import functools
import http.server
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar


class _Handler(http.server.SimpleHTTPRequestHandler):
    posted: list[bytes]
    arrived: threading.Event
    extensions_map: ClassVar[dict[str, str]] = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
    }

    def __init__(self, *args: Any, posted: list[bytes], arrived: threading.Event, **more: Any) -> None:
        self.posted, self.arrived = posted, arrived
        super().__init__(*args, **more)

    def do_POST(self) -> None:
        self.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.arrived.set()
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server:
    """Serves a folder at `address` while it is open; `posted` has the bodies of requests."""

    def __init__(self, folder: Path) -> None:
        self.posted: list[bytes] = []
        self.arrived = threading.Event()
        handler = functools.partial(_Handler, directory=str(folder), posted=self.posted, arrived=self.arrived)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://localhost:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
