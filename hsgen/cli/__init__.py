"""The command line.  Only this package knows argv, stdout, stderr and exit codes."""

from __future__ import annotations

import signal
import sys
import warnings

import click

from hsgen import __version__
from hsgen.cli import benches, bundles, compiling, devices, reports, suggesting, targets, tuning
from hsgen.errors import HsgenError, Terminated

_COMMANDS = (
    targets.targets,
    targets.show,
    bundles.generate,
    bundles.check,
    bundles.verify,
    compiling.compile_,
    devices.validate,
    benches.bench,
    suggesting.suggest,
    suggesting.probe,
    tuning.tune,
    reports.report,
    devices.doctor,
)
TERMINATED = 128 + signal.SIGTERM


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="hsgen")
def group() -> None:
    """Generate, check, validate and measure GPU sort kernels.

    Exit codes: 0 fine; 1 the answer is no (stale, wrong, does not build); 2 wrong usage or configuration;
    3 cannot answer here (no device, no compiler), which --require turns into 1.
    """


for _command in _COMMANDS:
    group.add_command(_command)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    warnings.filterwarnings("ignore", message="Non-empty compiler output")  # pyopencl; logs are kept on errors
    try:
        group.main(argv, prog_name="hsgen", standalone_mode=False)
    except HsgenError as e:
        for line in e.lines:
            click.echo(f"hsgen: {line}", err=True)
        return e.exit_code
    except click.exceptions.NoArgsIsHelpError as e:
        click.echo(e.format_message(), err=True)
        return e.exit_code
    except click.ClickException as e:
        click.echo(f"hsgen: {' '.join(e.format_message().split())}", err=True)
        return e.exit_code
    except click.exceptions.Exit as e:
        return e.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("hsgen: interrupted", err=True)
        return 130
    except Terminated:
        click.echo("hsgen: terminated", err=True)
        return TERMINATED
    except Exception as e:
        if not type(e).__module__.startswith("pyopencl"):
            raise
        click.echo(f"hsgen: the OpenCL runtime failed: {' '.join(str(e).split())[:300]}", err=True)
        return 1
    return 0


def _terminate(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what cleans up is not interrupted
    raise Terminated


def run() -> None:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(main())
