"""Numbers as they are written on the command line: texts in; bytes, tokens and rates out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.breakeven.geometry_file import CONTEXT_MAX

BLOCK_MIN, BLOCK_MAX = 512, 32 << 20
_BLOCK_STEP = 4
_NUMBER_MIN, _NUMBER_MAX = 1e-30, 1e30

_POWERS = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
_COUNT = re.compile(r"([0-9]{1,10})\s*(Ki|Mi|Gi|)(B?)")


def block_sizes(text: str) -> tuple[int, ...]:
    """Return sizes such as ``4KiB,1MiB`` in bytes, rising.

    Raises:
        ArgumentFault: one is no size, or none that a block may have.
    """
    sizes = {_count(part, "size", "512, 4KiB and 1MiB", True) for part in text.split(",")}
    for size in sizes:
        if not BLOCK_MIN <= size <= BLOCK_MAX or size % _BLOCK_STEP:
            raise ArgumentFault(
                f"a block of {size} bytes: multiples of {_BLOCK_STEP} from {BLOCK_MIN} bytes to"
                f" {BLOCK_MAX >> 20}MiB are allowed"
            )
    return tuple(sorted(sizes))


def token_counts(text: str) -> tuple[int, ...]:
    """Return lengths such as ``1Ki,100000`` in tokens, rising.

    Raises:
        ArgumentFault: one is no number of tokens, or out of bounds.
    """
    counts = {_count(part, "number of tokens", "1000 and 128Ki", False) for part in text.split(",")}
    for count in counts:
        if not 1 <= count <= CONTEXT_MAX:
            raise ArgumentFault(f"{count} tokens: 1 to {CONTEXT_MAX >> 20}Mi are allowed")
    return tuple(sorted(counts))


def _count(text: str, what: str, such: str, bytes_too: bool) -> int:
    parts = _COUNT.fullmatch(text.strip())
    if parts is None or (parts[3] and not bytes_too):
        raise ArgumentFault(f"{text.strip()!r} is no {what}; such are {such}")
    return int(parts[1]) * _POWERS[parts[2]]


def not_negative(option: str, text: str) -> float:
    """Return a number of 0 or more.

    Raises:
        ArgumentFault: it is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if number == 0:
        return 0.0
    if not _NUMBER_MIN <= number <= _NUMBER_MAX:
        raise ArgumentFault(
            f"{option}: {text!r} is no number of 0 or more, or out of bounds (0, {_NUMBER_MIN:g}"
            f" to {_NUMBER_MAX:g}); such are 0 and 12.5"
        )
    return number


def positive(option: str, text: str) -> float:
    """Return a number above 0, such as ``989e12``.

    Raises:
        ArgumentFault: it is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not _NUMBER_MIN <= number <= _NUMBER_MAX:
        raise ArgumentFault(
            f"{option}: {text!r} is no number above 0, or out of bounds ({_NUMBER_MIN:g} to"
            f" {_NUMBER_MAX:g}); such are 12000 and 989e12"
        )
    return number


def by_model(
    option: str, texts: Iterable[str], models: Sequence[str], *, shared: bool
) -> Mapping[str, float]:
    """Return numbers by model, of texts such as ``8000`` and ``llama-3.1-8b=8000``.

    Args:
        option: what gave them, for messages.
        texts: what was given; one that names a model goes before one that names none.
        models: names of all that were selected.
        shared: whether one number may be meant for several models.

    Raises:
        ArgumentFault: a text is no number, or not clear about its model.
    """
    plain: float | None = None
    named: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals and plain is not None:
            raise ArgumentFault(f"{option}: given twice for every model")
        if not equals:
            plain = positive(option, text)
        else:
            named[_selected(option, name, models)] = positive(option, number)
    if plain is not None and not shared and len(models) > 1:
        raise ArgumentFault(
            f"{option}: one number for {len(models)} models; select one with --model, or give"
            f" each its own: {option} {models[0]}=NUMBER"
        )
    return named if plain is None else dict.fromkeys(models, plain) | named


def _selected(option: str, name: str, models: Sequence[str]) -> str:
    if name in models:
        return name
    near = get_close_matches(name, models, n=1, cutoff=0.5)
    meant = f"did you mean {near[0]}? " if near else ""
    raise ArgumentFault(
        f"{option}: model {name!r} is not selected; {meant}(allowed: {', '.join(models)})"
    )
