"""The WGSL types for C types, the conversions of C, and the evaluation of constant expressions by C's rules."""

from __future__ import annotations

from hsgen.emit.wgsl.tree import (
    BOOL,
    I32,
    NARROW,
    U8,
    U16,
    U32,
    VECTORS,
    VOID,
    Binary,
    Cast,
    Choice,
    Const,
    Expr,
    Unary,
    refuse,
)

TYPES = {
    "int": I32,
    "uint": U32,
    "unsigned": U32,
    "bool": BOOL,
    "_Bool": BOOL,
    "void": VOID,
    "u8": U8,
    "u16": U16,
    "uvec2": "vec2<u32>",
    "uvec3": "vec3<u32>",
    "uvec4": "vec4<u32>",
}
"""The WGSL type for each type name in C texts."""

COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
_SIGN = 1 << 31


def wrapped(value: int, type_: str) -> int:
    """Return a value wrapped to the range of a type."""
    if type_ == BOOL:
        return int(value != 0)
    value &= (1 << 32) - 1
    return value - (1 << 32) if type_ == I32 and value >= _SIGN else value


def converted(value: Expr, type_: str, line: int) -> Expr:
    """Return an expression converted to a type.

    Raises:
        Unsupported: the conversion does not exist.
    """
    if value.type == type_:
        return value
    if type_ in NARROW and value.type in (I32, U32):
        mask = Const(U32, (1 << NARROW[type_]) - 1)
        return folded(Binary(U32, "&", converted(value, U32, line), mask))
    scalars = (I32, U32, BOOL)
    if value.type not in scalars or type_ not in scalars:
        refuse(f"no conversion from {value.type} to {type_}", line)
    if isinstance(value, Const) and (not value.name or type_ == BOOL):
        return Const(type_, wrapped(value.value, type_))
    if type_ == BOOL:
        return Binary(BOOL, "!=", value, Const(value.type, 0))
    if isinstance(value, Choice) and isinstance(value.yes, Const) and isinstance(value.no, Const):
        yes, no = (converted(x, type_, line) for x in (value.yes, value.no))
        return Choice(type_, value.condition, yes, no)
    if isinstance(value, Cast) and type_ != BOOL and value.of.type == type_:
        return value.of  # a conversion back to the original type; neither conversion changes a bit
    return Cast(type_, value)


def common(left: Expr, right: Expr, line: int) -> tuple[Expr, Expr]:
    """Return both operands of an arithmetic operation, converted to the common type that C prescribes."""
    if left.type == right.type and left.type in VECTORS:
        return left, right
    type_ = U32 if U32 in (left.type, right.type) else I32
    return converted(left, type_, line), converted(right, type_, line)


def binary(op: str, left: Expr, right: Expr, line: int) -> Expr:
    """Return the expression for the binary operator `op` of C, with the conversions of operands that C prescribes."""
    if op in ("&&", "||"):
        left, right = converted(left, BOOL, line), converted(right, BOOL, line)
        return folded(Binary(BOOL, op, left, right))
    if op in ("<<", ">>"):
        left = converted(left, I32, line) if left.type == BOOL else left
        return folded(Binary(left.type, op, left, converted(right, U32, line)))
    if left.type == right.type == "f32":
        return Binary("f32", op, left, right)
    left, right = common(left, right, line)
    if op in COMPARISONS:
        return folded(Binary(BOOL, op, left, right))
    return folded(Binary(left.type, op, left, right))


def folded(e: Expr) -> Expr:
    """Return an equivalent expression, without operations on constants and without neutral ones such as `+ 0`."""
    match e:
        case Unary(op="-", of=Const(value=v)):
            return Const(e.type, wrapped(-v, e.type))
        case Unary(op="~", of=Const(value=v)):
            return Const(e.type, wrapped(~v, e.type))
        case Unary(op="!", of=Const(value=v)):
            return Const(BOOL, int(not v))
        case Binary(op="+" | "-" | "*", left=Const(name=a), right=Const(name=b)) if a or b:
            return e  # readers of the WGSL see the name of the constant
        case Binary(op=op, left=Const(value=a), right=Const(value=b)):
            value = _calculated(op, a, b)
            return e if value is None else Const(e.type, wrapped(value, e.type))
        case (
            Binary(op="&&", left=Const(value=v), right=operand) | Binary(op="&&", left=operand, right=Const(value=v))
        ) if v:
            return operand
        case (
            Binary(op="||", left=Const(value=v), right=operand) | Binary(op="||", left=operand, right=Const(value=v))
        ) if not v:
            return operand
        case Binary(op="&&" | "||", left=Const()):
            return e.left
        case Binary(op="+" | "-" | "<<" | ">>" | "|" | "^", left=left, right=Const(value=0)) if left.type == e.type:
            return left
        case Binary(op="+" | "|" | "^", left=Const(value=0), right=right):
            return right
        case Binary(op="*" | "/", left=left, right=Const(value=1)):
            return left
        case Choice(condition=Const(value=v), yes=yes, no=no):
            return yes if v else no
    return e


def _calculated(op: str, a: int, b: int) -> int | None:
    """Return the value of an operation on two constants; None if C does not define it, as for a division by 0."""
    if op in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if op == "/" else a - b * quotient
    if op in ("<<", ">>"):
        return None if not 0 <= b < 32 else a << b if op == "<<" else a >> b
    results = {
        "+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b, "&&": bool(a and b), "||": bool(a or b),
        "==": a == b, "!=": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b,
    }  # fmt: skip
    return int(results[op])
