"""The stages from upstream's header text to facts.

The text is SPDK's own where XIOKV_TEST_SPDK names a bare git directory of it, at the commit
of xiokv.lock; else that of the test headers, which are far smaller.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from samples import Row, Samples, rows

from xiokv.codegen.config import load_config
from xiokv.codegen.lock import read_lock
from xiokv.codegen.parse import wanted
from xiokv.codegen.parse.asserts import check_asserts
from xiokv.codegen.parse.chunks import split
from xiokv.codegen.parse.constexpr import evaluate
from xiokv.codegen.parse.declarations import Declarations, declare, parse_expression
from xiokv.codegen.parse.extract import extract
from xiokv.codegen.parse.preprocess import Preprocessed, preprocess
from xiokv.codegen.parse.probe import prove_layout
from xiokv.codegen.parse.resolve import Types
from xiokv.codegen.upstream.snapshot import open_source, take

ROOT = Path(__file__).resolve().parents[2]
TEST_HEADERS = ROOT / "tests" / "data" / "headers"

_T = TypeVar("_T")


def measure(tiny: bool) -> list[Row]:
    """Return the time of each stage."""
    name, texts = _headers()
    samples: Samples = {}
    for _ in range(1 if tiny else 9):
        _stages(texts, samples)
    samples["all stages"] = [sum(stages) for stages in zip(*samples.values(), strict=True)]
    named = {f"{name}: {stage}": taken for stage, taken in samples.items()}
    return rows("ms", named, f"{name}: all stages")


def _headers() -> tuple[str, dict[str, str]]:
    place = os.environ.get("XIOKV_TEST_SPDK")
    lock = read_lock(ROOT / "xiokv.lock")
    if place and lock:
        upstream = load_config(str(ROOT)).upstream
        snapshot = take(open_source(upstream, Path(place)), upstream, lock.commit)
        return f"SPDK {lock.ref}", dict(snapshot.texts)
    files = sorted(TEST_HEADERS.rglob("*.h"))
    return "test headers", {
        path.relative_to(TEST_HEADERS).as_posix(): path.read_text(encoding="utf-8")
        for path in files
    }


def _stages(texts: dict[str, str], samples: Samples) -> None:
    """Parse once, as `parse_headers` does, and note what each stage takes."""

    def timed(stage: str, work: Callable[[], _T]) -> _T:
        start = time.perf_counter()
        done = work()
        samples.setdefault(stage, []).append((time.perf_counter() - start) * 1e3)
        return done

    preprocessed = timed("preprocess", lambda: preprocess(texts, wanted.CONSTANTS))
    declarations = timed("declare", lambda: declare(split(preprocessed.items)))
    types = Types(declarations)
    timed("layout and static asserts", lambda: check_asserts(declarations, types))

    facts = timed("extract", lambda: extract(types, _constants(preprocessed, declarations, types)))
    timed("proof by the C compiler", lambda: prove_layout(facts, texts))


def _constants(preprocessed: Preprocessed, found: Declarations, types: Types) -> dict[str, int]:
    return {
        name: evaluate(parse_expression(tokens, found), types).number
        for name, tokens in preprocessed.macros.items()
    }
