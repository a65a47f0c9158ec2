"""List phrases to weed out of what people read: documents, docstrings, comments, error messages and `--help`.

usage: python tests/prose.py [FILE...]     FILE:LINE: phrase (better): text, and a count; exit code 1 if there are any
       python tests/prose.py --later       rewrite LATER below: the files that have hits now

Without FILE, all tracked files are searched, including those of LATER.  A phrase that is right in its place is exempted
by `prose: ok` at the end of its line, or in EXEMPT.
"""

from __future__ import annotations

import ast
import fnmatch
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEEN = ("*.md", "*.py", "*.j2", "*.c", "*.h", "*.cu", "*.m", "*.toml", "*.html", "*.css", "Makefile")
SKIPPED = ("generated/*", "tests/unit/queries/*", "docs/results/*", "tests/prose.py")
"""Output of hsgen and of other programs, and this list."""

PHRASES = {
    r"\b(tells?|told|telling)\b": "report, say, state",
    r"\bso many\b": "the number",
    r"\bbesides?\b": "in addition, next to",
    r"(?-i:\b(is|are) none\b)": "there is no ...",
    r"\bof no (keys|kernel|pass|segments?)\b": "when n = 0, not a ...",
    r"\bwhatever\b": "any, regardless of",
    r"\bleaves? away\b": "omit",
    r"\basks? nothing\b": "requires no ...",
    r"\b(what|that which) is asked for\b": "the request",
    r"\b(a|another|its|the|their) begins?\b(?! with)": "start, prefix",
    r"\bas far as\b": "where, if, up to",
    r"\bnobody (knows|has|can)\b": "unknown, impossible",
    r"\bby (day|night)\b": "fast tests, nightly tests",
    r"\b(stands?|stood) (behind|beside|there)\b": "follows, is in",
    r"\bbehind (it|them|the last|a sort|this one)\b": "after",
    r"\bkeys? that nobody wants\b": "discarded keys",
    r"\bgoes? on\b": "continues, makes progress",
    r"\bcomes? out of\b": "results from",
    r"\bcomes? of it\b": "the result",
    r"\bbut for\b": "except",
    r"\banew\b": "again",
    r"\bin vain\b": "without success",
    r"\bas ever\b": "as before",
    r"\bfor want of\b": "for lack of, without",
    r"\bheld against\b": "compared with",
    r"\bmade of it\b": "the result",
    r"\bthe one and then the other\b": "both in turn",
    r"\bbrings? about\b": "produce",
}
"""What is looked for, in any case of letters and across line ends, and what to write instead."""

EXEMPT: dict[str, tuple[str, ...]] = {
    "tests/cli/test_choosing.py": ("behind the last",),
    "tests/cli/test_tuning_errors.py": ("anew", "is none"),
    "tests/compile/test_isa_radv.py": ("tell",),
    "tests/compile/test_peers_cuda.py": ("beside",),
    "tests/device/test_bench_parted.py": ("beside", "nobody knows", "so many", "told"),
    "tests/device/test_changes.py": ("tells",),
    "tests/device/test_checks.py": ("are none",),
    "tests/device/test_kinds.py": ("so many",),
    "tests/device/test_peers.py": ("beside",),
    "tests/device/test_segments.py": ("so many",),
    "tests/docs/test_prose.py": ("as far as", "besides", "goes on", "so many", "tells", "told"),
    "tests/unit/test_plot.py": ("told",),
    "tests/unit/test_radix.py": ("goes on",),
    "tests/unit/test_report.py": ("told",),
    "tests/unit/test_suggest_probe.py": ("told",),
    "tests/unit/test_torch.py": ("beside",),
    "tests/unit/test_tune_journal.py": ("is none",),
}
"""File: its phrases that are right in their place: most are messages of hsgen that tests quote."""

LATER = """
docs/decisions: 0020-dialect-contract.md
docs/internals: add-an-algorithm.md add-an-api.md add-an-operation.md
docs/reference: dialect.md
hsgen/algorithms: __init__.py device_constraints.py implicit.py
hsgen/algorithms/bitonic: constraints.py kernels.py params.py passes.py paths.py specialize.py
hsgen/algorithms/digest: __init__.py kernels.py params.py plan.py
hsgen/algorithms/merge_path: constraints.py kernels.py plan.py specialize.py
hsgen/algorithms/scan: constraints.py kernels.py params.py words.py
hsgen/algorithms/segmented: kernels.py params.py words.py
hsgen/apis: api.py cuda.py
hsgen/bundle: build.py
hsgen/core: buffers.py errors.py fields.py flags.py interpreter.py kernels.py keys.py plan.py
hsgen/dialects: definitions.py
hsgen/emit: c_constants.py c_files.py identifiers.py spirv_file.py templates.py
hsgen/engines: engine.py harness.py hosts.py metal_shim.py native.py pyopencl.py query.py scratch.py
hsgen/engines/native: harness.h
hsgen/operations: __init__.py base.py calls.py digest.py layouts.py merge.py oracle.py scan.py segmented_sort.py
hsgen/stages: attach.py epilogue.py run_boundaries.py sandbox.py
hsgen/targets: assembly.py evidence.py flat.py matching.py schema.py strategies.py target.py upgrade.py
hsgen/tools/suggest: facts.py fitting.py origins.py probing.py query.py text.py
hsgen/tools/suggest/shapes: bitonic.py radix.py
hsgen/tools/tune: edit.py journal.py propose.py run.py spread.py
targets: amd-rdna.toml amd-rdna64.toml nvidia-sm30.toml nvidia-tegra.toml
templates: keys.j2 order.j2
templates/stages/run_boundaries: parts.j2 serial_place.j2 spine.j2
templates/digest: beyond.j2 blank.j2 digest.j2 parts.j2
templates/dialects: contract.toml
templates/dialects/metal: kernel.j2
templates/bitonic: passes.j2 stream.j2
templates/merge_path: rows.j2 split.j2 tile.j2
templates/operations: digest.j2
templates/radix: places.j2
templates/report: sort.j2 style.j2 target.j2
templates/scan: lookback.j2 parts.j2
templates/segmented_sort: compared.j2 find.j2 parts.j2 serial_columns.j2 serial_windows.j2
tests/cli: test_bundle_spirv.py test_bundle_trust.py test_compile_errors.py test_suggest_errors.py
tests/cli: test_tuning_errors.py test_untrusted_bundles.py
tests/compile: test_cuda.py test_cuda_forms.py test_cuda_grid.py test_cuda_radix.py test_cuda_warnings.py
tests/compile: test_legal.py test_peers_cuda.py test_segments_cuda.py
tests/device: grind_changes.py grind_merging.py grind_segments.py kinds.py large.py mutant_worker.py probe_worker.py
tests/device: sort_many.cu sorters.py test_api.py test_api_trial.py test_avx512.py test_bench_parted.py
tests/device: test_bench_rivals.py test_buckets.py test_changes.py test_checks.py test_epilogues.py test_every_form.py
tests/device: test_kinds.py test_lookback.py test_merging.py test_mutants.py test_native.py test_oclgrind.py
tests/device: test_only_offset.py test_pairs.py test_peers.py test_probe.py test_properties.py test_rankers.py
tests/device: test_refusals.py test_report_page.py test_scanning.py test_segments.py test_shapes.py test_tuning.py
tests/device: test_validate.py test_vulkan.py test_vulkan_radix.py tune_child.py
tests/device/lanes: several8.toml simd32.toml
tests/docs: test_add_operation.py test_docs.py test_prose.py
tests/fuzz: guarded.py
tests/models: scan.py
tests/models/bitonic: memory.py
tests/models/radix: finish.py model.py msd.py shapes.py
tests/packaging: test_locks.py test_wheel.py
tests/unit: html_tree.py simulated.py test_architecture.py test_auto.py test_bench_intervals.py
tests/unit: test_dialect_contract.py test_dialect_extends.py test_forms.py test_glsl.py test_grids.py
tests/unit: test_isa_budget.py test_isa_nvidia.py test_isa_table.py test_manifest_names.py test_mergepath.py
tests/unit: test_metal_dialect.py test_model.py test_plot.py test_radix.py test_radix_exit.py test_radix_forms.py
tests/unit: test_radix_places.py test_report.py test_scan.py test_segments_model.py test_selection.py test_spirv.py
tests/unit: test_suggest.py test_suggest_probe.py test_targets.py test_templates.py test_transaction.py
tests/unit: test_tune_edit.py test_tune_journal.py test_tune_resume.py test_tune_search.py test_tune_space.py
tests/unit: test_vendor.py
tests/vendor: recording.c test_interpreter.py test_match.py test_recording.py test_symbols.py
tests/vendor/consumers: errors.c fake_metal.c fake_metal.h fake_opencl.c fake_opencl.h fuzz.h fuzz_opencl.c kinds.c
tests/vendor/consumers: launches.c metal.c
"""
"""Files that are not rewritten yet, by folder.  The list only shrinks: the test fails for a file here without a hit."""

GAP = r"\s+(?:(?:\*|//|#)\s+)?"  # between words: a space, or a line end with the mark of a comment
PATTERNS = [(re.compile(p.replace(" ", GAP), re.I), better) for p, better in PHRASES.items()]
C_PROSE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
C_LIKE = (".c", ".h", ".cu", ".m", ".css")


@dataclass(frozen=True)
class Hit:
    """A phrase: where it is, and what to write instead."""

    file: str
    line: int
    phrase: str
    better: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.phrase!r} ({self.better}): {self.text}"


def later() -> set[str]:
    """Return the files of LATER."""
    rows = (line.split(": ") for line in LATER.strip().splitlines())
    return {f"{folder}/{name}".removeprefix("./") for folder, names in rows for name in names.split()}


def files() -> list[str]:
    """Return the tracked files, and those not ignored, that hold prose."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *SEEN]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    skipped = tuple(re.compile(fnmatch.translate(p)) for p in SKIPPED)
    found = (n for n in done.stdout.splitlines() if not any(p.match(n) for p in skipped))
    return sorted({name for name in found if (ROOT / name).is_file()})


def prose(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a file that people read, each with the number of its first line."""
    if name.endswith(".py"):
        yield from _python(text)
    elif name.endswith(C_LIKE):
        yield from ((text.count("\n", 0, m.start()) + 1, m[0]) for m in C_PROSE.finditer(text))
    else:
        yield 1, text


def _python(text: str) -> Iterator[tuple[int, str]]:
    """Yield comments, those of consecutive lines joined, and strings."""
    start, comment = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            follows = comment and start + comment.count("\n") + 1 == token.start[0]
            if comment and not follows:
                yield start, comment
            start, comment = (start, f"{comment}\n{token.string}") if follows else (token.start[0], token.string)
    if comment:
        yield start, comment
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            whole = (node.end_lineno or node.lineno) - node.lineno == node.value.count("\n")
            yield node.lineno, node.value if whole else node.value.replace("\n", " ")


def hits(name: str, text: str, exempt: Collection[str] | None = None) -> list[Hit]:
    """Return the phrases in a file except `exempt` ones, by default those of EXEMPT."""
    exempt = EXEMPT.get(name, ()) if exempt is None else exempt
    lines = text.splitlines()
    found = set()
    for first, part in prose(name, text):
        for pattern, better in PATTERNS:
            for match in pattern.finditer(part):
                number = first + part.count("\n", 0, match.start())
                phrase = re.sub(GAP, " ", match[0])
                line = lines[min(number, len(lines)) - 1]
                if "prose: ok" not in line and phrase.lower() not in exempt:
                    found.add(Hit(name, number, phrase, better, line.strip()[:100]))
    return sorted(found, key=lambda h: (h.line, h.phrase))


def of_files(names: list[str]) -> list[Hit]:
    """Return the phrases in files, which are named relative to the checkout."""
    return [hit for name in names for hit in hits(name, (ROOT / name).read_text(encoding="utf-8"))]


def relist() -> None:
    """Write LATER into this file."""
    folders = defaultdict(list)
    for name in sorted({h.file for h in of_files(files())}):
        folders[Path(name).parent.as_posix()].append(Path(name).name)
    rows = []
    for folder, names in sorted(folders.items()):
        row = f"{folder}:"
        for name in names:
            if len(f"{row} {name}") > 118:
                rows.append(row)
                row = f"{folder}:"
            row += f" {name}"
        rows.append(row)
    here = Path(__file__)
    text = here.read_text(encoding="utf-8")
    head, _, tail = text.partition('LATER = """\n')
    here.write_text(
        head + 'LATER = """\n' + "".join(f"{r}\n" for r in rows) + tail[tail.index('"""') :], encoding="utf-8"
    )


def main() -> int:
    if sys.argv[1:] == ["--later"]:
        relist()
        return 0
    named = [Path(f).resolve().relative_to(ROOT).as_posix() for f in sys.argv[1:]]
    found = of_files(named or files())
    print(*found, f"{len(found)} phrases", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
