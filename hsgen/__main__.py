"""``python -m hsgen`` is the command line."""

from hsgen.cli import run

if __name__ == "__main__":
    run()
