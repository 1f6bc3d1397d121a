"""Constant expressions have the values that a C compiler gives them."""

from __future__ import annotations

import pytest

from xiokv.codegen.errors import SourceError
from xiokv.codegen.parse.chunks import split
from xiokv.codegen.parse.constexpr import evaluate
from xiokv.codegen.parse.declarations import declare, parse_expression
from xiokv.codegen.parse.preprocess import preprocess
from xiokv.codegen.parse.resolve import Types

DEFINITIONS = """\
#include <stddef.h>
#include <stdint.h>
#define VERSION(a, b, c) (((uint32_t)(a) << 16) | ((uint32_t)(b) << 8) | (uint32_t)(c))
#define TWICE(x) ((x) + (x))
#define PASTE(x) x##ULL
enum numbers { MINUS = -3, NEXT, SELF = MINUS + 10, };
enum wide { BIG = 1ULL << 63 };
struct inner { char a; int b[4]; };
struct outer { short c; union { struct inner d[2]; long e; }; };
typedef unsigned char byte;
"""
EXPRESSIONS = [
    "((uint32_t)0xFFFFFFFF)",
    "VERSION(1, 3, 0)",
    "TWICE(TWICE(3)) * 2",
    "PASTE(18446744073709551615) >> 60",
    "0x7fffffffffffffffLL",
    "1ULL << 63",
    "017 + 0x1F + 9u",
    "0xFFFFFFFF > 0",
    "-1 > 0U",
    "-1 < 0",
    "-1L < 0U",
    "~0",
    "~0U",
    "~0ULL",
    "-7 / 2",
    "-7 % 2",
    "7 / -2",
    "-8 >> 1",
    "1 << 31",
    "0x80000000",
    "2147483648",
    "(byte)300",
    "(int8_t)200",
    "(uint64_t)-1",
    "(short)0x18000",
    "(enum numbers)5",
    "3 > 2 ? -1 : 1u",
    "0 ? 1 : 'k'",
    "'\\n' + '\\\\'",
    "!5 + !0",
    "0 && (1 / 0)",
    "1 || (1 / 0)",
    "5 & 3 | 8 ^ 2",
    "sizeof(struct outer) + sizeof(long[3])",
    "offsetof(struct outer, d[1].b[2])",
    "offsetof(struct outer, e)",
    "NEXT",
    "BIG",
    "SELF",
    "MINUS == -3 && NEXT != MINUS",
    "(MINUS < 0) + (BIG > 0)",
]


def value_of(expression: str) -> int:
    text = f"{DEFINITIONS}#define WANTED {expression}\n"
    preprocessed = preprocess({"h.h": text}, ("WANTED",))
    declarations = declare(split(preprocessed.items))
    tree = parse_expression(preprocessed.macros["WANTED"], declarations)
    return evaluate(tree, Types(declarations)).number


@pytest.fixture(scope="module")
def by_compiler(run_c_program) -> dict[str, int]:
    prints = "\n".join(
        f'printf("%d %llu\\n", ({text}) < 0, (unsigned long long)({text}));' for text in EXPRESSIONS
    )
    program = f"#include <stdio.h>\n{DEFINITIONS}int main(void) {{\n{prints}\n}}\n"
    pairs = (line.split() for line in run_c_program(program).splitlines())
    values = [int(bits) - (1 << 64 if negative == "1" else 0) for negative, bits in pairs]
    return dict(zip(EXPRESSIONS, values, strict=True))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_constant_has_the_value_that_a_compiler_gives_it(expression, by_compiler) -> None:
    assert value_of(expression) == by_compiler[expression]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1 / 0", "division by zero"),
        ("1 << 32", "shift by 32 of a 32-bit value"),
        ("1 << -1", "shift by -1"),
        ("ABSENT + 1", "'ABSENT' is not a constant"),
        ("sizeof 3", "sizeof of an expression"),
        ("(float)3", "cast to an integer type only"),
        ("1.5", "1.5 is not an integer constant"),
        ("0x1FFFFFFFFFFFFFFFF", "does not fit 64 bits"),
        ("f(3)", "a function call has no place"),
        ("offsetof(struct outer, z)", "'z' is no member"),
        ('"text"', "is not an integer constant"),
        ("(1", "not understood"),
    ],
)
def test_what_is_no_constant_is_an_error_at_its_place(expression: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        value_of(expression)
    assert message in str(caught.value)
    assert f"#define WANTED {expression}" in str(caught.value)
