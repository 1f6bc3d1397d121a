"""The spec's hash changes with what reaches the wire, and with nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.spec.identity import identify
from xiokv.codegen.spec.model import Profile, SemanticField, Spec

FIELD = SemanticField("layer", 12, Bits(15, 0), "batch", ("store",), "index", "The layer.", "p:1")
PROFILE = Profile("mine", (FIELD,))


def _hash(spec: Spec, facts: str = "f" * 64, profile: Profile = PROFILE) -> str:
    return identify(facts, spec.commands, profile).spec


def _changed(field: SemanticField) -> Profile:
    return Profile("mine", (field,))


@pytest.mark.parametrize(
    "profile",
    [
        Profile("other", (FIELD,)),
        _changed(replace(FIELD, name="shard")),
        _changed(replace(FIELD, dword=13)),
        _changed(replace(FIELD, bits=Bits(14, 0))),
        _changed(replace(FIELD, scope="key")),
        _changed(replace(FIELD, commands=("list",))),
        Profile("mine", ()),
    ],
)
def test_the_profile_counts(spec: Spec, profile: Profile) -> None:
    assert _hash(spec, profile=profile) != _hash(spec)


def test_the_facts_count(spec: Spec) -> None:
    assert _hash(spec, facts="e" * 64) != _hash(spec)


@pytest.mark.parametrize(
    "change",
    [{"opcode": 0x7F}, {"key_max": 15}, {"options": ()}, {"fields": ()}, {"direction": "none"}],
)
def test_the_commands_count(spec: Spec, change: dict[str, object]) -> None:
    commands = (replace(spec.commands[0], **change), *spec.commands[1:])
    assert _hash(replace(spec, commands=commands)) != _hash(spec)


def test_texts_and_places_in_files_do_not_count(spec: Spec) -> None:
    commands = tuple(replace(c, brief="Other words.") for c in spec.commands)
    profile = _changed(replace(FIELD, meaning="Other words.", unit="number", source="elsewhere:9"))
    assert _hash(replace(spec, commands=commands), profile=profile) == _hash(spec)
