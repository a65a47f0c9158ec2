"""Write what `pip config list` says on stdin into a configuration file; print the paths of this machine in it."""

import ast
import configparser
import re
import sys
from pathlib import Path


def main(file: Path) -> None:
    """Sections stay; what variables say holds for all commands, and over what files say."""
    config = configparser.RawConfigParser()
    lines = sys.stdin.read().splitlines()
    for line in sorted(lines, key=lambda line: line.startswith(":env:")):
        name, _, text = line.partition("=")
        section, _, key = name.rpartition(".")
        section, value = section.replace(":env:", "global"), ast.literal_eval(text)
        if not config.has_section(section):
            config.add_section(section)
        config.set(section, key, value)
        for path in map(Path, re.findall(r"(?<!\S)(?:file://)?(/\S+)", value)):
            if path.exists():
                print(path.parent if path.name == "simple" else path)  # packages are next to their index
    with file.open("w", encoding="utf-8") as out:
        config.write(out)


main(Path(sys.argv[1]))
