"""``python -m hsgen`` is the command line.

Python then looks for modules in the current folder first.  Unless hsgen itself lies there, that folder is removed from
the path before any module is imported from it; `os` and `sys` are loaded already.
"""

import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120  (pathlib is not loaded)
if not sys.flags.safe_path and sys.path and os.path.realpath(sys.path[0]) != os.path.realpath(_HERE):
    del sys.path[0]

from hsgen.cli import run  # noqa: E402

if __name__ == "__main__":
    run()
