"""Run a program under one of compute-sanitizer's tools, and judge what the tool reports.

Usage: python tests/device/sanitized.py TOOL PROGRAM [ARGUMENT]...  TOOL is memcheck, racecheck, synccheck or initcheck.
Kernels of CuPy and of its libraries are not checked, except by initcheck, which follows what these write.
The output is that of the program and the tool, then the number of reports by severity and kernel, and last the
tool's summary.  It exits with 1 if the program fails, if the tool reports an error or ends without a summary.
Warnings of racecheck are counted by kernel but are no failure: lanes that store the same word are reported so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
OTHERS = "cupy|cub|thrust|elementwise"
"""A part of the names of kernels that are not from hsgen."""
MARK = "========="
"""What each line of a tool begins with."""
_BEGIN = re.compile(r"^=+ (Error|Warning|Info|ERROR|WARN\w*|INFO)\s*:\s*(.*)")
_UNNAMED = re.compile(
    r"^=+ (Invalid|Uninitialized|Barrier error|Misaligned|Program hit|Host|Leaked|Out-of-range|Unused|Divergent)"
)
"""Reports of memcheck, synccheck and initcheck, which name no severity: errors."""
_PLACE = re.compile(r"(?:^|\s|:)([A-Za-z_]\w*)(?:\([^()]*\))?\+0x[0-9a-f]+")
"""A kernel with an offset in its code."""
_LINE = re.compile(r" in (?:\S+?:\d+:)?([A-Za-z_]\w*)(?:\(|\s|$)")
"""A kernel after a line of its source, in older versions."""
_SUMMARY = re.compile(r"^=+ (?:\w+ )*SUMMARY: (.*)")
_NUMBER = re.compile(r"(\d+) error")


@dataclass
class Report:
    """What a tool has reported: the number of reports by severity and kernel, and its summaries."""

    kernels: dict[str, Counter[str]] = field(default_factory=dict)
    summaries: list[str] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """The errors: those of the summaries, or of the reports if there are more."""
        said = sum(int(m[1]) for s in self.summaries if (m := _NUMBER.search(s)))
        return max(said, sum(self.kernels.get("error", Counter()).values()))

    def lines(self) -> list[str]:
        """Return a line for each severity, and the summaries."""
        found = []
        for severity, kernels in sorted(self.kernels.items()):
            names = ", ".join(f"{name} {count}" for name, count in kernels.most_common())
            found.append(f"{severity}: {kernels.total()} reports: {names}")
        return [*found, *(f"summary: {s}" for s in self.summaries)]


def report(lines: Iterable[str]) -> Report:
    """Return what the lines of a tool's output report."""
    found, open_ = Report(), ""
    for line in lines:
        if not line.startswith(MARK):
            continue
        if m := _SUMMARY.match(line):
            found.summaries.append(m[1].strip())
            open_ = ""
            continue
        if m := _BEGIN.match(line):
            open_ = {"e": "error", "w": "warning", "i": "info"}[m[1][0].lower()]
            if "Maximum number" in m[2]:
                _count(found, "info", "the tool's limit of reports")
                open_ = ""
        elif _UNNAMED.match(line):
            open_ = "error"
        if open_ and (name := kernel_of(line)):
            _count(found, open_, name)
            open_ = ""  # further lines are the other accesses of the same report
    return found


def _count(found: Report, severity: str, name: str) -> None:
    found.kernels.setdefault(severity, Counter())[name] += 1


def kernel_of(line: str) -> str:
    """Return the kernel that a line names, "" if it names none."""
    m = _PLACE.search(line) or (_LINE.search(line) if "+0x" not in line else None)
    return m[1] if m else ""


def judged(code: int, found: Report) -> list[str]:
    """Return why a run is not clean, given the exit code of the program."""
    wrong = [f"the program exits with {code}"] * (code != 0)
    wrong += ["the tool ended without a summary"] * (not found.summaries)
    return wrong + [f"{found.errors} errors"] * (found.errors > 0)


def main(argv: list[str]) -> int:
    """Run the program."""
    if len(argv) < 2 or argv[0] not in TOOLS:
        print(f"usage: sanitized.py {'|'.join(TOOLS)} PROGRAM [ARGUMENT]...", file=sys.stderr)
        return 2
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        print("sanitized: compute-sanitizer is not installed", file=sys.stderr)
        return 3
    more = ["--report-api-errors", "no"] if argv[0] == "memcheck" else []  # hsgen asks for what may be refused
    if argv[0] != "initcheck":
        more += ["--kernel-name-exclude", f"regex={OTHERS}"]
    command = [tool, "--tool", argv[0], "--print-limit", "10000", *more, *argv[1:]]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as p:
        assert p.stdout
        for line in p.stdout:
            sys.stdout.write(line)
            lines.append(line)
    found = report(lines)
    wrong = judged(p.returncode, found)
    print(*(f"FAILED: {text}" for text in wrong), *found.lines(), sep="\n", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
