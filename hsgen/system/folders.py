"""Private folders of this user: temporary ones, removed when the process ends, and the cache.

A cached file may become code (a loaded library, kernels), so the cache is used only where no other user can write.
An entry ends with the SHA-256 of its data, because a full disk or a crash can leave it incomplete.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hsgen.core.errors import Notice, Unavailable

FORM = 2
"""Format of cache entries, part of the folder names; format 1 had no digest after the data."""

_DIGEST = hashlib.sha256().digest_size
_temporary: set[Path] = set()
_stand_ins: dict[tuple[str, str], Path] = {}  # temporary replacements of caches, by name and reason
_lock = threading.Lock()


def temporary() -> Path:
    """Return a new folder that is removed when the process ends.

    Raises:
        Unavailable: the folder cannot be created.
    """
    atexit.unregister(sweep)
    atexit.register(sweep)
    try:
        path = Path(tempfile.gettempdir()) / f"hsgen-{secrets.token_hex(8)}"
        _temporary.add(path)  # before it exists, so that a signal in between leaves nothing
        path.mkdir(mode=0o700)
    except OSError as e:
        raise Unavailable(f"no temporary folder can be made ({e.strerror}); name a place for it in TMPDIR") from None
    return path


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new folder that is removed at the end of the block or, if that is interrupted, of the process.

    Raises:
        Unavailable: the folder cannot be created.
    """
    path = temporary()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            _temporary.discard(path)


def sweep() -> None:
    """Remove all temporary folders of this process."""
    for path in list(_temporary):
        shutil.rmtree(path, ignore_errors=True)


def user_caches() -> Path:
    """Return the folder for the caches of this user's programs; the XDG specification ignores relative paths."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path("~/.cache").expanduser()


def cached(name: str) -> Path:
    """Return hsgen's cache folder of this name, or a temporary folder for this process.

    The temporary folder is used if the cache cannot be created or written, or if other users can write to it or
    replace it; a notice reports this once.

    Raises:
        Unavailable: the temporary folder cannot be created either.
    """
    base = user_caches()
    place = base / "hsgen" / f"{name}-{FORM}"
    why = _problem(base) or _made(place.parent) or _made(place)
    if why is None:
        return place
    return _instead(name, f"cache {place}: {why}; results are kept for this run only")


def _instead(name: str, why: str) -> Path:
    with _lock:
        if (name, why) not in _stand_ins:
            warnings.warn(why, Notice, stacklevel=4)
            _stand_ins[name, why] = temporary()
        return _stand_ins[name, why]


def problem(*names: str) -> str | None:
    """Return why these cache folders of other programs, created if missing, are unsafe or unusable, or None."""
    base = user_caches()
    return _problem(base) or next((said for name in names if (said := _made(base / name))), None)


def _problem(base: Path) -> str | None:
    """Why a folder cannot hold caches: it cannot be created, or other users can replace its content."""
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = base.stat()
    except OSError as e:
        return f"cannot be used ({e.strerror})"
    if hasattr(os, "getuid"):
        if found.st_uid not in (0, os.getuid()):
            return f"{base} belongs to another user"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX:
            return f"others can write to {base}; take that from them with chmod go-w"
    return None


def _made(place: Path) -> str | None:
    """Create a folder for this user only, or return why the existing one is unusable."""
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
    except OSError as e:
        return f"{place.name} cannot be used ({e.strerror})"
    if not stat.S_ISDIR(found.st_mode):
        return f"{place.name} is a link"
    if hasattr(os, "getuid"):
        if found.st_uid != os.getuid():
            return f"{place} belongs to another user"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others can write to {place}; delete it"
    if not os.access(place, os.W_OK | os.X_OK):
        return f"{place.name} cannot be written"
    return None


def load(path: Path) -> bytes | None:
    """Return the data that `keep` stored; None if the file is missing, damaged, a link, or another user's."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
            if not (stat.S_ISREG(found.st_mode) and own):
                return None
            data = file.read()
    except OSError:
        return None
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    return body if hashlib.sha256(body).digest() == digest else None


def keep(path: Path, data: bytes) -> None:
    """Store `data` in a file of the cache, atomically.

    Raises:
        Unavailable: the file cannot be written.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data + hashlib.sha256(data).digest())
        part.replace(path)
    except OSError as e:
        raise Unavailable(f"cache {path.parent}: cannot be written ({e.strerror}); make room or delete it") from None
    finally:
        with suppress(OSError):
            part.unlink()
