"""Shared and exclusive locks on the folders of bundles."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from hsgen.core.errors import Usage, shown
from hsgen.system.tree import Tree, opened

PATIENCE = 10.0  # seconds; commands hold the lock only while they move files into place, not while they render files
_PAUSE = 0.01  # seconds between two attempts to lock
_UNKNOWN = (errno.EOPNOTSUPP, errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.EBADF)
"""The errors by which a file system shows that it has no locks; commands then run without a lock."""


@contextmanager
def locked(root: Path, *, write: bool = False, check: Callable[[], None] = lambda: None) -> Iterator[Tree | None]:
    """Open and lock a folder, and yield it; yield None if the folder does not exist.

    write: whether the lock is exclusive; by default it is shared.
    check: a function that is called repeatedly while the lock is not free; it may raise an exception to end the wait.

    Raises:
        Usage: the path is a file, or another process holds the lock for more than `PATIENCE` seconds.
        OSError: the folder cannot be opened.
    """
    until = time.monotonic() + PATIENCE
    while True:
        with ExitStack() as stack:
            tree = stack.enter_context(opened(root))
            if tree is not None:
                _wait(stack, tree, write, until, check)
            if tree is None or _still(tree):
                yield tree
                return


def _still(tree: Tree) -> bool:
    """Return True if the locked folder is still at its path.

    Another process may have removed the folder before this process got the lock.
    """
    if tree.descriptor is None:
        return True
    with suppress(OSError):
        return os.path.samestat(tree.root.stat(), os.fstat(tree.descriptor))
    return False


def _wait(stack: ExitStack, tree: Tree, write: bool, until: float, check: Callable[[], None]) -> None:
    attempt = _attempt(stack, tree, write)
    while not attempt():
        check()
        if time.monotonic() > until:
            raise Usage(f"{shown(tree.root)}: another hsgen is at work there; run this again when that one has ended")
        time.sleep(_PAUSE)


if sys.platform == "win32":

    def _attempt(stack: ExitStack, tree: Tree, write: bool) -> Callable[[], bool]:
        """Return a function that tries to lock a file in the user's temporary folder, and returns whether it succeeded.

        Windows cannot lock the folder itself.  The lock is always exclusive, for readers, too.
        """
        import hashlib
        import msvcrt
        import tempfile

        name = hashlib.sha256(str(tree.root.resolve()).lower().encode("utf-8", "surrogatepass")).hexdigest()[:32]
        file = stack.enter_context((Path(tempfile.gettempdir()) / f"hsgen-{name}.lock").open("ab"))

        def attempt() -> bool:
            try:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            except OSError:
                return False
            return True

        return attempt

else:

    def _attempt(stack: ExitStack, tree: Tree, write: bool) -> Callable[[], bool]:
        """Return a function that tries to lock the folder itself, and returns whether it succeeded.

        There is no lock file that could remain.  The lock ends when the descriptor is closed.
        """
        import fcntl

        descriptor = tree.descriptor

        def attempt() -> bool:
            if descriptor is None:
                return True
            try:
                fcntl.flock(descriptor, (fcntl.LOCK_EX if write else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except OSError as e:
                if e.errno not in (errno.EWOULDBLOCK, errno.EACCES, *_UNKNOWN):
                    raise
                return e.errno in _UNKNOWN
            return True

        return attempt
