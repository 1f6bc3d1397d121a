"""Plans of SemBlend's public shapes: their objects or JSON in, a plan out.

SemBlend speaks of single positions, this package of whole blocks: of a run of positions only
the blocks count that it covers whole, at the same place in a block of donor and request. The
rest becomes fresh, and the import says how much that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from xiokv.runtime.arguments import integer
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.documents import INTEGER_MAX, DocumentFault, Range
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan, Span

_COPY, _RECOMPUTE = "copy_from_donor", "recompute"
_FIELDS = ("slot_actions", "position_map", "chunk_assignments")


@dataclass(frozen=True, slots=True)
class Imported:
    """A plan, and what was lost on the way.

    Attributes:
        plan: the plan.
        dropped_tokens: tokens that the planner gave a donor for, and that became fresh since
            no whole block holds them.
    """

    plan: Plan
    dropped_tokens: int


@dataclass(frozen=True, slots=True)
class _Run:
    """Adjacent positions of one donor."""

    donor: str
    source: int
    target: int
    count: int
    refs: tuple[str, ...] = ()


def from_composite(
    composite: Any,
    *,
    request: str,
    tokens: int,
    block_tokens: int,
    chunk_tokens: int | None = None,
) -> Imported:
    """Import a ``CompositeKVPlan``.

    Args:
        composite: the object, or its JSON as a mapping. What it says by single positions is
            taken: `slot_actions`, or else `position_map`; without both,
            `chunk_assignments`.
        request: name of the request.
        tokens: tokens of the request.
        block_tokens: tokens of a block.
        chunk_tokens: tokens of a chunk, where `chunk_assignments` have to be taken.

    Raises:
        DocumentFault: a field is wrong; the message names it.
    """
    _check_counts(tokens=tokens, block_tokens=block_tokens)
    _check_composite(composite)
    pairs = _positions(composite, tokens, chunk_tokens)
    return _imported(_runs(pairs), request, tokens, block_tokens)


def from_segments(
    segments: Iterable[Any], *, request: str, tokens: int, block_tokens: int
) -> Imported:
    """Import ``SemanticSegment`` objects, or their JSON.

    Args:
        segments: each with `donor_id`, `donor_start`, `target_start`, `token_count` and
            `block_refs`; the latter are taken as keys where they are 16 bytes in hex.
        request: name of the request.
        tokens: tokens of the request.
        block_tokens: tokens of a block.

    Raises:
        DocumentFault: a field is wrong; the message names it.
    """
    _check_counts(tokens=tokens, block_tokens=block_tokens)
    if isinstance(segments, (str, bytes, Mapping)) or not isinstance(segments, Iterable):
        raise DocumentFault(f"segments: a {type(segments).__name__} is seen; allowed is a list")
    runs = [_segment(f"segments[{index}]", segment) for index, segment in enumerate(segments)]
    return _imported(sorted(runs, key=lambda run: run.target), request, tokens, block_tokens)


def _check_composite(composite: Any) -> None:
    """Refuse what has none of the fields that are taken: it would be a plan of nothing."""
    has = composite.__contains__ if isinstance(composite, Mapping) else partial(hasattr, composite)
    if not any(map(has, _FIELDS)):
        raise DocumentFault(
            f"a {type(composite).__name__} without {', '.join(_FIELDS)} is no CompositeKVPlan; give"
            " the object, or its JSON as a mapping"
        )


def _segment(name: str, segment: Any) -> _Run:
    refs = _list(name, segment, "block_refs")
    return _Run(
        _text(name, segment, "donor_id"),
        _number(name, segment, "donor_start"),
        _number(name, segment, "target_start"),
        _number(name, segment, "token_count", 1),
        tuple(ref if isinstance(ref, str) else "" for ref in refs),
    )


def _positions(composite: Any, tokens: int, chunk_tokens: int | None) -> list[_Run]:
    """Return runs of one position, by whichever field speaks of them."""
    actions = _list("", composite, "slot_actions")
    if len(actions):
        return list(_of_actions(actions))
    positions = _field(composite, "position_map")
    if positions is not None and len(_list("position_map", positions, "target_positions")):
        return list(_of_map(positions))
    chunks = _list("", composite, "chunk_assignments")
    if not len(chunks):
        return []
    if chunk_tokens is None:
        raise DocumentFault(
            "chunk_assignments: nothing else says which positions are meant; give chunk_tokens"
        )
    _check_counts(chunk_tokens=chunk_tokens)
    return list(_of_chunks(chunks, chunk_tokens, tokens))


def _of_actions(actions: Sequence[Any]) -> Iterator[_Run]:
    for index, action in enumerate(actions):
        name = f"slot_actions[{index}]"
        kind = _text(name, action, "action")
        if kind == _COPY:
            yield _Run(
                _text(name, action, "donor_id"),
                _number(name, action, "donor_pos"),
                _number(name, action, "target_pos"),
                1,
            )
        elif kind != _RECOMPUTE:
            raise DocumentFault(
                f"{name}.action: {kind!r} is seen; allowed are {_COPY!r} and {_RECOMPUTE!r}"
            )


def _of_map(positions: Any) -> Iterator[_Run]:
    columns = [
        _list("position_map", positions, name)
        for name in ("donor_ids", "donor_positions", "target_positions")
    ]
    if len(set(map(len, columns))) != 1:
        raise DocumentFault(
            f"position_map: its lists have {', '.join(str(len(column)) for column in columns)}"
            " entries; they have to be equally long"
        )
    for index, (donor, source, target) in enumerate(zip(*columns, strict=True)):
        entry = {"donor_id": donor, "donor_pos": source, "target_pos": target}
        name = f"position_map[{index}]"
        yield _Run(
            _text(name, entry, "donor_id"),
            _number(name, entry, "donor_pos"),
            _number(name, entry, "target_pos"),
            1,
        )


def _of_chunks(chunks: Sequence[Any], chunk_tokens: int, tokens: int) -> Iterator[_Run]:
    for index, chunk in enumerate(chunks):
        name = f"chunk_assignments[{index}]"
        if _field(chunk, "donor_id") is None or _field(chunk, "donor_chunk_idx") is None:
            continue
        target = _number(name, chunk, "target_chunk_idx") * chunk_tokens
        source = _number(name, chunk, "donor_chunk_idx") * chunk_tokens
        count = min(chunk_tokens, tokens - target)
        if count < 1:
            raise DocumentFault(f"{name}.target_chunk_idx: it begins past {tokens} tokens")
        yield _Run(_text(name, chunk, "donor_id"), source, target, count)


def _runs(pieces: list[_Run]) -> list[_Run]:
    """Join what is adjacent in both donor and request."""
    joined: list[_Run] = []
    for piece in sorted(pieces, key=lambda run: run.target):
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.donor == piece.donor
            and last.source + last.count == piece.source
            and last.target + last.count == piece.target
        ):
            joined[-1] = _Run(last.donor, last.source, last.target, last.count + piece.count)
        else:
            joined.append(piece)
    return joined


def _imported(runs: Sequence[_Run], request: str, tokens: int, block_tokens: int) -> Imported:
    _check_apart(runs)
    if runs and runs[-1].target + runs[-1].count > tokens:
        last = Range(runs[-1].target, runs[-1].target + runs[-1].count)
        raise DocumentFault(f"target {last} of donor {runs[-1].donor!r} leaves the {tokens} tokens")
    given = sum(run.count for run in runs)
    kept = [span for span in (_whole_blocks(run, block_tokens) for run in runs) if span]
    spans: list[Span] = []
    covered = 0
    for span in kept:
        if span.target.start > covered:
            spans.append(FreshSpan(target=Range(covered, span.target.start)))
        spans.append(span)
        covered = span.target.end
    if covered < tokens:
        spans.append(FreshSpan(target=Range(covered, tokens)))
    plan = Plan(request=request, tokens=tokens, block_tokens=block_tokens, spans=tuple(spans))
    plan.check()
    return Imported(plan, given - sum(len(span.target) for span in kept))


def _check_apart(runs: Sequence[_Run]) -> None:
    """Refuse two donors for one position; runs come in the order of their targets."""
    for run, after in pairwise(runs):
        if after.target < run.target + run.count:
            raise DocumentFault(
                f"target {after.target} is given by donor {run.donor!r} and by donor"
                f" {after.donor!r}; one position has one donor"
            )


def _whole_blocks(run: _Run, block_tokens: int) -> DonorSpan | None:
    """Return the blocks that a run covers, if donor and request have the same ones."""
    if (run.source - run.target) % block_tokens:
        return None
    skipped = -run.target % block_tokens
    count = (run.count - skipped) // block_tokens * block_tokens
    if count <= 0:
        return None
    source, target = run.source + skipped, run.target + skipped
    return DonorSpan(
        target=Range(target, target + count),
        donor=run.donor,
        source=Range(source, source + count),
        keys=_keys(run, skipped, count, block_tokens),
    )


def _keys(run: _Run, skipped: int, count: int, block_tokens: int) -> tuple[str, ...]:
    """Return those references that are keys of the blocks which are left."""
    # A reference stands for each block that the run touches, the cut ones at its ends, too.
    blocks = -(-(run.source + run.count) // block_tokens) - run.source // block_tokens
    if not all(_is_key(ref) for ref in run.refs) or not run.refs or len(run.refs) % blocks:
        return ()
    shards = len(run.refs) // blocks
    first = -(-skipped // block_tokens)
    return run.refs[first * shards : (first + count // block_tokens) * shards]


def _is_key(ref: str) -> bool:
    return len(ref) == 32 and set(ref) <= set("0123456789abcdef")


def _field(item: Any, name: str) -> Any:
    if isinstance(item, Mapping):
        return item.get(name)
    return getattr(item, name, None)


def _list(where: str, item: Any, name: str) -> Sequence[Any]:
    """Return what can be counted and gone through; nothing where there is none."""
    value = _field(item, name)
    if value is None:
        return ()
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        raise DocumentFault(
            f"{f'{where}.{name}' if where else name}: a {type(value).__name__} is seen; allowed is"
            " a list"
        )
    found: Sequence[Any] = value
    return found


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if not 1 <= integer(name, count) <= INTEGER_MAX:
            raise ArgumentFault(f"{name} is {count}; allowed are 1 to {INTEGER_MAX}")


def _text(where: str, item: Any, name: str) -> str:
    value = _field(item, name)
    if not isinstance(value, str) or not value:
        raise DocumentFault(f"{where}.{name}: {value!r} is seen; allowed is a text")
    return value


def _number(where: str, item: Any, name: str, least: int = 0) -> int:
    value = _field(item, name)
    try:
        number = integer(name, value)  # also of NumPy
    except ArgumentFault:
        number = -1
    if not least <= number <= INTEGER_MAX:
        raise DocumentFault(
            f"{where}.{name}: {value!r} is seen; allowed is an integer from {least} to"
            f" {INTEGER_MAX}"
        )
    return number
