"""Calls a sort in every way through the C runtime of Vulkan, in a separate process, since drivers crash.

Usage: every_worker.py LIBRARY TARGET ALGORITHM WIDTH VALUE OPTIONS each|some; prints JSON: the number of calls, the
error or null, and the messages of the validation layers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from every import WHOLE, few_counts, first_problem, sort_of

from hsgen.core.keys import Signature
from hsgen.engines.harness import Harness, Native


def main(library: str, name: str, algorithm: str, key: str, value: str, options: str, much: str) -> None:
    """See above."""
    sort = sort_of(name, algorithm, key, Signature(value=value, **WHOLE))
    engine = Native(Harness(Path(library)), "vulkan", sort, 0, options)
    calls, problem = first_problem(engine, few_counts(sort, all_near=much == "each"), each=much == "each")
    print(json.dumps([calls, problem, engine.messages()]))
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
