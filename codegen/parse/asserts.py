"""Every static assert of the texts is evaluated; each must hold.

They are upstream's own statement of sizes and offsets, and thereby the first proof of
the layout rules here: one that fails, or that concerns a type which could not be laid
out, is an error.
"""

from __future__ import annotations

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from xiokv.codegen.errors import Problems
from xiokv.codegen.parse.constexpr import evaluate
from xiokv.codegen.parse.declarations import Declarations, Declared
from xiokv.codegen.parse.resolve import Types


def check_asserts(declarations: Declarations, types: Types) -> int:
    """Evaluate every static assert, report all that fail, and return how many there are."""
    problems = Problems()
    for declared in declarations.asserts:
        with problems.collect():
            _check(declared.at(declared.node.cond), types)
    problems.raise_if_any()
    return len(declarations.asserts)


def _check(condition: Declared, types: Types) -> None:
    if evaluate(condition, types).number:
        return
    text = CGenerator().visit(condition.node)
    raise condition.error(f"static assert fails: {text}{_sides(condition, types)}")


def _sides(condition: Declared, types: Types) -> str:
    """Return both values of a comparison, as a text to append."""
    node = condition.node
    if not isinstance(node, c_ast.BinaryOp) or node.op in {"&&", "||"}:
        return ""
    left, right = (evaluate(condition.at(side), types).number for side in (node.left, node.right))
    return f" (the left side is {left}, the right side is {right})"
