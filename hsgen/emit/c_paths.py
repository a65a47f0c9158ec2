"""The paths of C files in a bundle, and the prefix of C names.

Other modules write the files, so that `hsgen verify` need not import the code for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hsgen.apis import APIS
from hsgen.apis.api import Api
from hsgen.core.errors import Usage

PREFIX = "hs"
LONGEST_PREFIX = 32  # the greatest number of characters in a prefix
TAKEN = {"gl", "int", "size", "std", "uint", *(p for api in APIS.values() for p in api.prefixes)}
CORE = ("hs.c", "hs_call.c", "hs_match.c", "hs_plan.c")
"""The C sources that the runtimes of all APIs share."""
RUNTIME = {
    **{f"include/hs/{name}": name for name in ("hs.h", "hs_plan.h")},
    **{f"src/{name}": name for name in (*CORE, "hs_internal.h")},
}
"""The files of the runtime that all APIs share: path in a bundle to name of the template."""
BUILD = {
    **{name: name for name in ("LICENSE", "README.md", "CMakeLists.txt", "meson.build", "meson_options.txt")},
    **{"cmake/hs-config.cmake": "config.cmake", "cmake/hs.pc.in": "pc.in"},
}
"""The build files and documents of a bundle: path in a bundle to name of the template."""


def check_prefix(prefix: str) -> str:
    """Return `prefix` if it is a valid prefix of C names.

    Raises:
        Usage: the prefix is reserved, longer than `LONGEST_PREFIX` characters, or not a valid start of C names.
    """
    if prefix in TAKEN:
        raise Usage(f"prefix {prefix!r}: is reserved by C, C++ or an API; choose another one")
    if len(prefix) > LONGEST_PREFIX:
        raise Usage(f"prefix '{prefix[:LONGEST_PREFIX]}...': is too long; use at most {LONGEST_PREFIX} characters")
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", prefix):
        raise Usage(f"prefix {prefix!r}: cannot start C names; use lower-case letters, digits and single '_' between")
    return prefix


def prefixed(text: str, prefix: str) -> str:
    """Return a C text or a path with `prefix` in place of ``hs`` in C names and include paths."""
    if prefix == PREFIX:
        return text
    text = re.sub(r"(?<![A-Za-z0-9])hs(?=[_/.-]|::)", prefix, text)
    return re.sub(r"(?<![A-Za-z0-9])HS(?=_)", prefix.upper(), text)


def core_paths(targets: Iterable[str], prefix: str) -> list[str]:
    """Return the paths of the C sources that a bundle's library contains for every API; none has SPIR-V."""
    runtime = [prefixed(f"src/{name}", prefix) for name in (*CORE, "hs_targets.c")]
    return [*runtime, *(f"targets/{name}/{name}.c" for name in targets)]


def common_paths(apis: Sequence[Api], prefix: str) -> set[str]:
    """Return the paths of the files that `hsgen.emit.c_files.common` writes for targets with these APIs."""
    files = {
        *RUNTIME,
        *BUILD,
        *(f"sources/{api.name}.txt" for api in apis),
        *(p for api in apis for p in own_files(api)),
        *(p for api in apis if api.package for p in api.package.files),
    }
    files |= {path for table_api in (None, *(a for a in apis if a.tables)) for path in list_files(table_api)}
    return {prefixed(path, prefix) for path in files}


def own_files(api: Api) -> dict[str, str]:
    """Return the files of an API's runtime and its example: path in a bundle to file name in the API's templates."""
    files = {f"include/hs/{api.named(name)}": name for name in api.headers}
    files |= {f"src/{api.named(name)}": name for name in (*api.internal, *api.sources)}
    return files | {f"examples/{api.named(api.example)}": api.example}


def list_files(api: Api | None) -> dict[str, str]:
    """Return the C files with the array of all targets: path in a bundle to name of the template.

    api: an API with `Api.tables`, whose runtime needs its own array of targets; None for the array that the runtimes of
    all APIs share.
    """
    name, suffix = (
        ("hs_targets", "c") if api is None or not api.tables else (f"hs_targets_{api.name}", api.tables.suffix)
    )
    return {f"include/hs/{name}.h": "hs_targets.h", f"src/{name}.{suffix}": "hs_targets.c"}


def single_name(api: Api, prefix: str) -> str:
    """Return the file name of an API's header in a single-header bundle."""
    return f"{prefix}_sort_{api.name}.h"


def single_paths(apis: Sequence[Api], prefix: str) -> set[str]:
    """Return the paths of all files of a single-header bundle for these APIs."""
    examples = {f"examples/{prefixed(api.named(api.example), prefix)}" for api in apis}
    return {"LICENSE", "README.md", *examples, *(single_name(api, prefix) for api in apis)}
