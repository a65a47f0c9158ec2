"""Commands as a terminal shows them: its width is kept, bars leave nothing behind, and pipes get plain text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from terminals import ESCAPE, ROOT, Terminal, lines, shown

from hsgen.cli import main, progress, tune_progress
from hsgen.engines.hosts import Host
from hsgen.targets import target

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")

COMMANDS = [
    (80, "targets"),
    (200, "targets"),
    (80, "show cpu --key u32 --algorithm radix --plan 2^20"),
    (80, "bench --help"),
    (200, "generate -h"),
    (80, "--help"),
    (60, "help keys"),
]


@pytest.mark.parametrize(("columns", "command"), COMMANDS)
def test_output_fits_the_terminal(columns: int, command: str) -> None:
    code, text = shown(columns, *command.split())
    assert code == 0 and "\x1b[" in text
    assert max(map(len, lines(text))) <= columns
    assert "\u2026" not in text  # nothing is cut


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("command", ["show cpu --key u32 --algorithm radix", "verify --help", "--help", "help sizes"])
def test_colours_can_be_turned_off(variables: dict[str, str], command: str) -> None:
    code, text = shown(80, *command.split(), variables=variables)
    assert code == 0 and "\x1b" not in text and max(map(len, lines(text))) <= 80


def test_an_error_is_one_line_on_a_terminal_too() -> None:
    code, text = shown(40, "show", "nvidia-hoper")
    assert code == 2 and text.startswith(
        "\x1b[31mhsgen:\x1b[0m target nvidia-hoper: unknown; did you mean nvidia-hopper?"
    )
    assert text.count("\n") == 1
    assert "\x1b" not in shown(40, "show", "nvidia-hoper", variables={"NO_COLOR": "1"})[1]


def test_wrong_names_get_the_closest_one(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, line in (
        (["vaildate"], "Did you mean 'validate'?"),
        (["bench", "--devise", "x"], "Did you mean '--device'?"),
        (["help", "kes"], "did you mean keys?"),
        (["generate", "-t", "nvidia-sm9"], "did you mean nvidia-sm90?"),
    ):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert line in err and err.startswith("hsgen: ") and err.count("\n") == 1


def test_pipes_get_plain_rows() -> None:
    """Even where variables ask for colours, or for a narrow terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "hsgen", "targets"],
        env={**os.environ, "COLUMNS": "40", "FORCE_COLOR": "1", "TERM": "xterm", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    head, *rows = done.stdout.splitlines()
    assert done.returncode == 0 and not done.stderr and "\x1b" not in done.stdout
    assert head.startswith("target ") and [row.split()[0] for row in rows] == target.names()


def test_json_is_the_same_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = shown(80, "show", "cpu", "--key", "u32", "--json")
    assert main(["show", "cpu", "--key", "u32", "--json"]) == code == 0
    assert text == capsys.readouterr().out and json.loads(text)


@pytest.mark.parametrize("command", ["--version", "--help", "check", "verify"])
def test_commands_that_draw_nothing_do_not_load_rich(command: str) -> None:
    code = "import sys; from hsgen import cli; cli.main(sys.argv[1:]); sys.exit('rich' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, command, *(["nowhere"] if command in ("check", "verify") else [])],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0


def counted(count: int, seconds: float = 0.0) -> Iterator[int]:
    for i in range(count):
        time.sleep(seconds)
        yield i


def test_a_bar_is_drawn_on_one_line_and_disappears(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert list(progress.progress("cpu/auto_u32", 2000)(counted(2000))) == list(range(2000))
    text = terminal.getvalue()
    assert "cpu/auto_u32" in text and "2000/2000" in text
    assert text.count("cpu/auto_u32") < 20 and text.count("\n") <= 1  # far fewer drawings than items
    assert text.endswith("\r\x1b[1A\x1b[2K")
    assert all(len(part) <= 80 for part in re.split("[\r\n]", ESCAPE.sub("", text)))


def test_off_a_terminal_lines_become_rarer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(progress.progress("quick", 2000)(counted(2000)))) == 2000
    assert capsys.readouterr() == ("", "")
    found = progress._Lines(after=0.01)
    for done in range(100):
        time.sleep(0.002)
        found.report("cpu/auto_u32", done, 100)
    err = capsys.readouterr().err
    assert 2 <= err.count("\n") <= 6
    for line in err.splitlines():
        assert re.fullmatch(r"hsgen: cpu/auto_u32: \d+ of 100 done after \d+ s", line)


def test_a_dumb_terminal_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert len(list(progress.progress("quick", 5)(counted(5)))) == 5
    assert not terminal.getvalue()


@pytest.mark.device
def test_doctor_and_bench_fit_the_terminal(embedded: Host) -> None:
    code, text = shown(80, "doctor")
    assert code == 0 and max(map(len, lines(text))) <= 80
    options = {"-t": "cpu", "--algorithm": "radix", "--key": "u32", "--sizes": "2^10", "--rounds": "3"}
    options["--device"] = embedded.platform
    code, text = shown(80, "bench", *(word for option in options.items() for word in option))
    assert code == 0 and "interval" in text
    assert max(len(part) for line in lines(text) for part in line.split("\r")) <= 80


def test_a_folder_is_an_argument_or_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    """Of `check` and `verify`."""
    for command in ("check", "verify"):
        for arguments in (["nowhere"], ["-o", "nowhere"], ["nowhere", "-o", "nowhere"], ["--output", "nowhere"]):
            assert main([command, *arguments]) == 2
            assert capsys.readouterr().err.startswith("hsgen: nowhere: no bundle there")
        assert main([command, "nowhere", "-o", "elsewhere"]) == 2
        assert capsys.readouterr().err == "hsgen: nowhere and --output elsewhere: are two folders; name one bundle\n"


def tuned() -> None:
    """Show a tuning of 90 seconds: a race of many parts, and two notes."""
    with tune_progress.showing(90.0) as shown:
        shown.show("race", "bitonic u32, 9 shapes of a name that is long enough to be folded", 80.0)
        for number in range(500):
            shown.beat(f"validate, {number} of 500")
        shown.show("skip", "radix u32: no time for [red]8[/red] shapes", 60.0)
        shown.show("found", "bitonic u32: 4 shapes, 0 failed, best 1.00 x the file's", 50.0)


def test_a_tuning_redraws_its_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fits the terminal, so that it leaves no line behind but its notes."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    tuned()
    text = terminal.getvalue()
    assert text.count("tuning") < 12 and "about 90s left" in text
    assert all(len(part.rstrip()) <= 80 for part in re.split("[\r\n]", ESCAPE.sub("", text)))
    assert [x.strip() for x in ESCAPE.sub("", text).splitlines() if x.startswith(("skip:", "found:"))] == [
        "skip: radix u32: no time for [red]8[/red] shapes",
        "found: bitonic u32: 4 shapes, 0 failed, best 1.00 x the file's",
    ]
    ups, downs = (sum(map(int, re.findall(rf"\x1b\[(\d+){x}", text))) for x in "AB")
    assert text.count("\n") - 2 == ups - downs, "as many lines are erased as drawn"


def test_a_tuning_off_a_terminal_has_a_line_for_each_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tuned()
    steps = [
        "race: bitonic u32, 9 shapes of a name that is long enough to be folded; about 80s left",
        "skip: radix u32: no time for [red]8[/red] shapes",
        "found: bitonic u32: 4 shapes, 0 failed, best 1.00 x the file's",
    ]
    assert capsys.readouterr().err.splitlines() == [f"     0 s  {step}" for step in steps]
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    tuned()
    assert "\x1b" not in terminal.getvalue() and terminal.getvalue().count("\n") == 3
