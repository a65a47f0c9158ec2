"""The offline compilers that hsgen knows how to ask, one of each kind."""

from __future__ import annotations

from hsgen.isa.amdgcn import Amdgcn
from hsgen.isa.base import Compiler
from hsgen.isa.cuda import Cuda
from hsgen.isa.modules import Spirv
from hsgen.isa.ocloc import Ocloc
from hsgen.isa.radv import Radv

_KINDS: tuple[Compiler, ...] = (Cuda(), Ocloc(), Amdgcn(), Radv(), Spirv())
COMPILERS: dict[str, Compiler] = {c.name: c for c in _KINDS}
"""By name, as ``[isa]`` has them."""
