"""Integer constant expressions with C's types: promotions, conversions, wrap-around.

In go a syntax tree and an `Environment` that knows enumerators, types and layouts; out
comes a value with its type. What C does not allow in a constant is an error at its place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from xiokv.codegen.parse.declarations import Declared
from xiokv.codegen.parse.types import INT, LONG, UNSIGNED_INT, UNSIGNED_LONG, Integer


@dataclass(frozen=True, slots=True)
class Value:
    """An integer of a C type."""

    number: int
    type: Integer

    @property
    def fits(self) -> bool:
        """Whether the number is within the range of the type."""
        return self.to(self.type).number == self.number

    def to(self, target: Integer) -> Value:
        """Convert to another type, modulo its range."""
        number = self.number & ((1 << target.bits) - 1)
        if target.signed and number >> (target.bits - 1):
            number -= 1 << target.bits
        return Value(number, target)

    def promoted(self) -> Value:
        """Apply the integer promotions."""
        return self.to(INT) if self.type.size < INT.size else self


class Environment(Protocol):
    """What a constant expression may refer to."""

    def enumerator(self, name: str) -> Value | None:
        """Return the value of an enumerator, or None where there is none of that name."""

    def size_of(self, expression: Declared) -> int:
        """Return the size in bytes of the type that a type name stands for."""

    def offset_of(self, type_name: Declared, designator: Declared) -> int:
        """Return the offset in bytes of a member."""

    def integer_type(self, type_name: Declared) -> Integer:
        """Return the integer type that a type name stands for."""


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "/": lambda a, b: _truncated(a, b),
    "%": lambda a, b: a - b * _truncated(a, b),
}
_COMPARISON: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_UNARY: dict[str, Callable[[int], int]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
}
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11}


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def evaluate(expression: Declared, environment: Environment) -> Value:
    """Evaluate an integer constant expression."""
    return _Evaluator(environment).value(expression)


class _Evaluator:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def value(self, expression: Declared) -> Value:
        handler = getattr(self, f"_{type(expression.node).__name__.lower()}", None)
        if handler is None:
            raise expression.error("this is not an integer constant expression")
        value: Value = handler(expression)
        return value

    def _constant(self, constant: Declared) -> Value:
        text = constant.node.value
        if constant.node.type == "char" and text[0] == "'":
            return Value(self._character(constant), INT)
        digits = text.lower().rstrip("ul")
        suffix = text.lower()[len(digits) :]
        base = 8 if digits[0] == "0" and digits.isdigit() else 0
        try:
            number = int(digits, base)
        except ValueError:
            raise constant.error(f"{text} is not an integer constant") from None
        for kind in _literal_types(decimal=digits[0] != "0", suffix=suffix):
            if Value(number, kind).fits:
                return Value(number, kind)
        raise constant.error(f"{text} does not fit 64 bits")

    def _character(self, constant: Declared) -> int:
        inner = constant.node.value[1:-1]
        if inner[:1] == "\\":
            if inner[1:] in _ESCAPES:
                return _ESCAPES[inner[1:]]
            inner = inner[1:] if inner[1:] in {"\\", "'", '"', "?"} else ""
        if len(inner) != 1 or not inner.isascii():
            raise constant.error(f"character {constant.node.value} is not supported")
        return ord(inner)

    def _id(self, name: Declared) -> Value:
        value = self._environment.enumerator(name.node.name)
        if value is None:
            raise name.error(f"{name.node.name!r} is not a constant")
        return value

    def _unaryop(self, unary: Declared) -> Value:
        operand = unary.at(unary.node.expr)
        if unary.node.op == "sizeof":
            return Value(self._environment.size_of(operand), UNSIGNED_LONG)
        if unary.node.op == "!":
            return Value(int(not self.value(operand).number), INT)
        if unary.node.op not in _UNARY:
            raise unary.error(f"operator {unary.node.op!r} has no place in a constant")
        value = self.value(operand).promoted()
        return Value(_UNARY[unary.node.op](value.number), value.type).to(value.type)

    def _binaryop(self, binary: Declared) -> Value:
        node = binary.node
        left = self.value(binary.at(node.left))
        if node.op in {"&&", "||"}:
            decided = bool(left.number) == (node.op == "||")
            right_is_true = decided or bool(self.value(binary.at(node.right)).number)
            return Value(int(bool(left.number) if decided else right_is_true), INT)
        right = self.value(binary.at(node.right))
        if node.op in {"<<", ">>"}:
            return self._shift(binary, left.promoted(), right.number)
        common = _common_type(left, right)
        a, b = left.to(common).number, right.to(common).number
        if node.op in _COMPARISON:
            return Value(int(_COMPARISON[node.op](a, b)), INT)
        if node.op in {"/", "%"} and b == 0:
            raise binary.error("division by zero in a constant")
        return Value(_ARITHMETIC[node.op](a, b), common).to(common)

    def _shift(self, shift: Declared, value: Value, count: int) -> Value:
        if not 0 <= count < value.type.bits:
            raise shift.error(f"shift by {count} of a {value.type.bits}-bit value")
        shifted = value.number << count if shift.node.op == "<<" else value.number >> count
        return Value(shifted, value.type).to(value.type)

    def _ternaryop(self, choice: Declared) -> Value:
        node = choice.node
        taken = self.value(choice.at(node.iftrue if self._is_true(choice) else node.iffalse))
        other = choice.at(node.iffalse if self._is_true(choice) else node.iftrue)
        return taken.to(_common_type(taken, self.value(other)))

    def _is_true(self, choice: Declared) -> bool:
        return bool(self.value(choice.at(choice.node.cond)).number)

    def _cast(self, cast: Declared) -> Value:
        target = self._environment.integer_type(cast.at(cast.node.to_type))
        return self.value(cast.at(cast.node.expr)).to(target)

    def _funccall(self, call: Declared) -> Value:
        name = getattr(call.node.name, "name", None)
        if name != "offsetof":
            raise call.error("a function call has no place in a constant")
        type_name, designator = call.node.args.exprs
        offset = self._environment.offset_of(call.at(type_name), call.at(designator))
        return Value(offset, UNSIGNED_LONG)


def _literal_types(*, decimal: bool, suffix: str) -> list[Integer]:
    """Return the types to try for a literal, in the order of the C standard."""
    types = [INT, UNSIGNED_INT, LONG, UNSIGNED_LONG]
    if "l" in suffix:
        types = types[2:]
    if "u" in suffix:
        return [kind for kind in types if not kind.signed]
    return [kind for kind in types if kind.signed] if decimal else types


def _common_type(left: Value, right: Value) -> Integer:
    """Apply the usual arithmetic conversions to the types of two operands."""
    a, b = left.promoted().type, right.promoted().type
    wider = max(a, b, key=lambda kind: (kind.size, kind.rank))
    unsigned_wins = any(not kind.signed and kind.size == wider.size for kind in (a, b))
    return Integer(wider.size, signed=not unsigned_wins, rank=wider.rank)
