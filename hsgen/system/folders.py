"""Private folders of this user: caches, and temporary folders that are removed when the process ends.

Some cached files are loaded as code, such as libraries and kernels, so other users must not be able to write to a
cache.  Each file ends with the SHA-256 of its data, because a full disk or a crash can truncate the file.
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
"""The version of the format of cached files, which is part of the names of cache folders.

Files of format 1 had no SHA-256 after the data.
"""

_DIGEST = hashlib.sha256().digest_size
_temporary: set[Path] = set()
_stand_ins: dict[tuple[str, str], Path] = {}  # temporary folders in place of unusable caches, by name and reason
_lock = threading.Lock()


def temporary() -> Path:
    """Return a new temporary folder, which is removed when the process ends.

    Raises:
        Unavailable: the folder cannot be created.
    """
    atexit.unregister(sweep)
    atexit.register(sweep)
    try:
        path = Path(tempfile.gettempdir()) / f"hsgen-{secrets.token_hex(8)}"
        _temporary.add(path)  # before mkdir, so that `sweep` removes the folder even if a signal arrives in between
        path.mkdir(mode=0o700)
    except OSError as e:
        raise Unavailable(f"no temporary folder can be made ({e.strerror}); name a place for it in TMPDIR") from None
    return path


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new folder, which is removed when the context ends, or at the latest when the process ends.

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
    """Return the folder for caches of this user.

    A relative path in XDG_CACHE_HOME is ignored, as the XDG specification demands.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path("~/.cache").expanduser()


def cached(name: str) -> Path:
    """Return hsgen's cache folder `name`, or a temporary folder if the cache folder is unsafe or unusable.

    A cache is unsafe if other users can write to it or replace it.  A cache is unusable if it cannot be created or
    written.  Each unsafe or unusable cache is reported once, by a notice.

    Raises:
        Unavailable: neither the cache nor a temporary folder can be created.
    """
    place, why = _place(name)
    return place if why is None else _stand_in(name, f"cache {place}: {why}; results are kept for this run only")


def usable(name: str) -> Path | None:
    """Return hsgen's cache folder `name`; return None, without a notice, if the folder is unsafe or unusable."""
    place, why = _place(name)
    return place if why is None else None


def lasting(name: str) -> Path:
    """Return hsgen's cache folder `name`.

    Raises:
        Unavailable: the cache is unsafe or unusable.
    """
    place, why = _place(name)
    if why is not None:
        raise Unavailable(f"cache {place}: {why}")
    return place


def _place(name: str) -> tuple[Path, str | None]:
    """Return the path of a cache folder, and the reason why it is unsafe or unusable; None if it can be used.

    A missing folder is created.
    """
    base = user_caches()
    place = base / "hsgen" / f"{name}-{FORM}"
    return place, _problem(base) or _create(place.parent) or _create(place)


def _stand_in(name: str, why: str) -> Path:
    """Return the temporary folder that replaces a cache for the reason `why`; warn when the folder is created."""
    with _lock:
        if (name, why) not in _stand_ins:
            warnings.warn(why, Notice, stacklevel=4)
            _stand_ins[name, why] = temporary()
        return _stand_ins[name, why]


def problem(*names: str) -> str | None:
    """Return the reason why one of these cache folders, which other programs use, is unsafe or unusable; None if all
    can be used.

    Missing folders are created.
    """
    base = user_caches()
    return _problem(base) or next((reason for name in names if (reason := _create(base / name))), None)


def _problem(base: Path) -> str | None:
    """Return the reason why a folder cannot contain caches; None if it can.  A missing folder is created.

    No other user may be able to replace what is in the folder.
    """
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = base.stat()
    except OSError as e:
        return f"cannot be used ({e.strerror})"
    if hasattr(os, "getuid"):
        if status.st_uid not in (0, os.getuid()):
            return f"{base} belongs to another user"
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
            return f"others can write to {base}; take that from them with chmod go-w"
    return None


def _create(place: Path) -> str | None:
    """Create a missing folder, for this user only; return the reason why the folder is unusable, or None."""
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        status = place.lstat()
    except OSError as e:
        return f"{place.name} cannot be used ({e.strerror})"
    if not stat.S_ISDIR(status.st_mode):
        return f"{place.name} is a link"
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            return f"{place} belongs to another user"
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others can write to {place}; delete it"
    if not os.access(place, os.W_OK | os.X_OK):
        return f"{place.name} cannot be written"
    return None


def load(path: Path) -> bytes | None:
    """Return the data that `keep` stored.

    Return None if the file is missing or damaged, is a link, or belongs to another user.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            is_owner = not hasattr(os, "getuid") or status.st_uid == os.getuid()
            if not (stat.S_ISREG(status.st_mode) and is_owner):
                return None
            data = file.read()
    except OSError:
        return None
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    return body if hashlib.sha256(body).digest() == digest else None


def keep(path: Path, data: bytes) -> None:
    """Write `data` and its digest to a cache file, atomically.

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
