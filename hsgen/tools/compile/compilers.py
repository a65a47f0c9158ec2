"""The offline compilers that hsgen supports, one object for each kind."""

from __future__ import annotations

from hsgen.tools.compile.amdgcn import Amdgcn
from hsgen.tools.compile.base import Compiler
from hsgen.tools.compile.cuda import Cuda
from hsgen.tools.compile.hip import Hip
from hsgen.tools.compile.modules import Spirv
from hsgen.tools.compile.ocloc import Ocloc
from hsgen.tools.compile.radv import Radv

_KINDS: tuple[Compiler, ...] = (Cuda(), Ocloc(), Amdgcn(), Hip(), Radv(), Spirv())
COMPILERS: dict[str, Compiler] = {c.name: c for c in _KINDS}
"""The compilers by their names in ``[isa]``."""
