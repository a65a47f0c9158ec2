"""Access to the files below a root folder, such as a bundle, without ever following links.

The content of the root folder is untrusted.  Every access opens a path component by component, relative to the
descriptor of the parent folder (openat with O_NOFOLLOW).  Even if another process replaces a folder by a link at that
moment, the access does not follow the link.  On systems without openat, such as Windows, each component is checked
before the path is used.  The path of the root folder itself comes from the user, and may contain links.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from hsgen.core.errors import Usage, shown
from hsgen.system.paths import parts

DESCRIPTORS = hasattr(os, "O_NOFOLLOW") and {os.open, os.stat, os.mkdir, os.rename, os.unlink} <= os.supports_dir_fd
LARGEST = 64 << 20  # the greatest size in bytes of a file in a bundle; hsgen writes files of up to about 5 MB
DEEPEST = 32  # the greatest number of nested folders; a bundle has 4
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
_ROOT = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
}
_JUNCTIONS = {getattr(stat, name, -1) for name in ("IO_REPARSE_TAG_SYMLINK", "IO_REPARSE_TAG_MOUNT_POINT")}


class Tree:
    """An open root folder.  Paths are relative to the root folder, with `/` as separator.

    After a system error, every method raises OSError with the whole path.  If a component of a path is neither a file
    nor a folder, every method raises Usage.
    """

    def __init__(self, root: Path, descriptor: int | None) -> None:
        self.root, self.descriptor = root, descriptor

    def refuse(self, path: str, kind: str, expected: str = "") -> Usage:
        """Return the error for a path at which there is a `kind` in place of `expected`, by default a file."""
        name = shown(self.root / path)
        if kind in ("file", "folder"):
            return Usage(f"{name}: is a {kind} where a {expected or 'file'} belongs; move it away")
        return Usage(f"{name}: is a {kind}; a bundle holds only plain files and folders; remove it")

    @contextmanager
    def _at(self, path: str) -> Iterator[None]:
        try:
            yield
        except OSError as e:
            raise OSError(e.errno, e.strerror or str(e), str(self.root / path)) from None

    @contextmanager
    def _above(self, path: str, *, make: bool = False) -> Iterator[tuple[str, int | None]]:
        """Yield the name of the last component of a path, and the descriptor of its parent folder.

        On systems without openat, yield the whole path and None.
        make: whether to create missing parent folders.
        """
        *above, last = parts(path)
        with ExitStack() as stack:
            name, descriptor = self._enter(stack, above, make)
            with self._at(path):
                yield (f"{name}/{last}" if name else last), descriptor

    def _enter(self, stack: ExitStack, folders: list[str], make: bool) -> tuple[str, int | None]:
        """Open nested folders one after another; return "" and the descriptor of the innermost folder.

        On systems without openat, only check each folder, and return the joined path and None.
        """
        name, descriptor = ("" if self.descriptor is not None else str(self.root)), self.descriptor
        for depth, folder in enumerate(folders, 1):
            path = "/".join(folders[:depth])
            below = f"{name}/{folder}" if name else folder
            with self._at(path):
                kind = _kind(below, descriptor)
                if kind is None and make:
                    with suppress(FileExistsError):
                        os.mkdir(below, dir_fd=descriptor)
                    kind = _kind(below, descriptor)
                if kind not in ("folder", None):
                    raise self.refuse(path, kind, "folder")
                if descriptor is None:
                    name = below
                    continue
                descriptor = os.open(below, _FOLDER, dir_fd=descriptor)
                stack.callback(os.close, descriptor)
        return name, descriptor

    def kind(self, path: str) -> str | None:
        """Return "file", "folder", "link", "FIFO", "socket" or "device" for a path; None if nothing is there."""
        with suppress(FileNotFoundError), self._above(path) as (name, descriptor):
            return _kind(name, descriptor)
        return None

    def is_file(self, path: str) -> bool:
        """Return True if there is a file at the path, and False if nothing is there.

        Raises:
            Usage: something other than a file is there.
        """
        kind = self.kind(path)
        if kind not in ("file", None):
            raise self.refuse(path, kind)
        return kind is not None

    def size(self, path: str) -> int:
        """Return the size of a file in bytes."""
        with self._above(path) as (name, descriptor):
            return os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_size

    def read(self, path: str, limit: int = LARGEST) -> bytes:
        """Return the content of a file.

        Raises:
            Usage: the path is not a file, or the file is larger than `limit`.
        """
        with self._above(path) as (name, descriptor):
            kind = _kind(name, descriptor)
            if kind not in ("file", None):
                raise self.refuse(path, kind)
            with os.fdopen(os.open(name, _READ, dir_fd=descriptor), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise self.refuse(path, "device")
                data = file.read(limit + 1)
        if len(data) > limit:
            raise Usage(f"{shown(self.root / path)}: has more than {limit} bytes, as no file of hsgen's has; remove it")
        return data

    def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file in hexadecimal, or None if the file is missing."""
        return hashlib.sha256(self.read(path)).hexdigest() if self.is_file(path) else None

    def create(self, path: str, data: bytes) -> None:
        """Write a new file in an existing folder."""
        with (
            self._above(path) as (name, descriptor),
            os.fdopen(os.open(name, _NEW, 0o666, dir_fd=descriptor), "wb") as file,
        ):
            file.write(data)

    def mkdir(self, path: str) -> None:
        """Create a new folder."""
        with self._above(path) as (name, descriptor):
            os.mkdir(name, dir_fd=descriptor)

    def rename(self, path: str, to: str) -> None:
        """Move a file atomically and replace the file at `to`; create the parents of `to`."""
        with self._above(path) as (old, source), self._above(to, make=True) as (new, destination):
            os.replace(old, new, src_dir_fd=source, dst_dir_fd=destination)

    def unlink(self, path: str) -> None:
        """Remove a file."""
        with self._above(path) as (name, descriptor):
            os.unlink(name, dir_fd=descriptor)

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        with self._above(path) as (name, descriptor):
            os.rmdir(name, dir_fd=descriptor)

    def writable(self, path: str) -> bool:
        """Return True if this process can create and remove files in a folder; "" is the root folder."""
        effective = os.access in os.supports_effective_ids
        if not path:
            name = self.root if self.descriptor is None else "."
            return os.access(name, os.W_OK, dir_fd=self.descriptor, effective_ids=effective)
        with self._above(path) as (name, descriptor):
            return os.access(name, os.W_OK, dir_fd=descriptor, effective_ids=effective)

    def names(self, path: str = "") -> list[str]:
        """Return the names in a folder, sorted; "" is the root folder."""
        with ExitStack() as stack:
            name, descriptor = self._enter(stack, path.split("/") if path else [], False)
            with self._at(path):
                return sorted(_listed(name, descriptor))

    def files(self, *, empty: bool = False) -> list[str]:
        """Return the paths of all files, sorted; with `empty`, also the paths of empty folders, each with a final '/'.

        Raises:
            Usage: an entry is neither a file nor a folder.
        """
        paths: list[str] = []
        todo: list[list[str]] = [[]]
        while todo:
            folder = todo.pop()
            with ExitStack() as stack:
                name, descriptor = self._enter(stack, folder, False)
                with self._at("/".join(folder)):
                    inside = _listed(name, descriptor)
                    kinds = {n: _kind(f"{name}/{n}" if name else n, descriptor) for n in inside}
            if empty and folder and not kinds:
                paths.append("/".join([*folder, ""]))
            for entry, kind in sorted(kinds.items()):
                path = "/".join([*folder, entry])
                if kind == "folder" and len(folder) < DEEPEST:
                    todo.append([*folder, entry])
                elif kind == "file":
                    paths.append(path)
                elif kind == "folder":
                    raise Usage(f"{shown(self.root / path)}: is deeper than any folder of a bundle; remove it")
                elif kind is not None:
                    raise self.refuse(path, kind)
        return sorted(paths)


def _listed(name: str, descriptor: int | None) -> list[str]:
    with os.scandir(name if descriptor is None else descriptor) as entries:
        return [e.name for e in entries]


def _kind(name: str, descriptor: int | None) -> str | None:
    try:
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if getattr(status, "st_reparse_tag", 0) in _JUNCTIONS:
        return "link"
    return _KINDS.get(stat.S_IFMT(status.st_mode), "device")


@contextmanager
def opened(root: Path) -> Iterator[Tree | None]:
    """Open a folder and yield it; yield None if the folder does not exist.

    Raises:
        Usage: the path is a file, is below a file, or is not valid.
        OSError: the folder cannot be opened.
    """
    there, descriptor = True, None
    try:
        if DESCRIPTORS:
            descriptor = os.open(root, _ROOT)
        elif not stat.S_ISDIR(root.stat().st_mode):
            raise NotADirectoryError
    except FileNotFoundError:
        there = False
    except NotADirectoryError:
        raise Usage(f"{shown(root)}: cannot be a folder, it is a file or below one; name a folder") from None
    except ValueError:  # the path has a NUL, or a character that the file system cannot encode
        raise Usage(f"{shown(root)}: cannot be the path of a folder; name another") from None
    try:
        yield Tree(root, descriptor) if there else None
    finally:
        if descriptor is not None:
            os.close(descriptor)
