"""Upstream text to facts: preprocess, declare, lay out, check, extract."""

from __future__ import annotations

from collections.abc import Mapping

from xiokv.codegen.errors import nesting
from xiokv.codegen.facts import Facts
from xiokv.codegen.parse import wanted
from xiokv.codegen.parse.asserts import check_asserts
from xiokv.codegen.parse.chunks import split
from xiokv.codegen.parse.constexpr import evaluate
from xiokv.codegen.parse.declarations import declare, parse_expression
from xiokv.codegen.parse.extract import extract, refuse_old_trees
from xiokv.codegen.parse.preprocess import preprocess
from xiokv.codegen.parse.resolve import Types


def parse_headers(texts: Mapping[str, str]) -> Facts:
    """Return the facts that upstream headers state.

    Args:
        texts: upstream path, such as ``include/spdk/nvme_spec.h``, to text.

    Raises:
        XiokvError: the texts lack the NVMe-KV definitions, a static assert fails, or
            something that is needed is not understood.
    """
    with nesting(", ".join(sorted(texts))):
        return _facts(texts)


def _facts(texts: Mapping[str, str]) -> Facts:
    preprocessed = preprocess(texts, wanted.CONSTANTS)
    declarations = declare(split(preprocessed.items))
    types = Types(declarations)
    refuse_old_trees(types)
    check_asserts(declarations, types)
    constants = {
        name: evaluate(parse_expression(tokens, declarations), types).number
        for name, tokens in preprocessed.macros.items()
    }
    return extract(types, constants)
