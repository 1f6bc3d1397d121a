"""The committed spec file's facts, and the spec that they merge to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from xiokv.codegen import ir
from xiokv.codegen.facts import Facts
from xiokv.codegen.semantics.commands import CommandSet, load_commands
from xiokv.codegen.semantics.docs import load_docs
from xiokv.codegen.semantics.profiles import load_profile
from xiokv.codegen.spec.merge import merge
from xiokv.codegen.spec.model import Provenance, Spec

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("store", "retrieve", "list", "delete", "exist")

MakeSpec = Callable[..., Spec]


@pytest.fixture(scope="session")
def facts() -> Facts:
    """Return the facts of the committed spec file."""
    path = ROOT / "generated" / "spec" / "nvme_kv.json"
    return ir.load(path.read_text(encoding="utf-8"), path.name)


@pytest.fixture(scope="session")
def make_spec(facts: Facts) -> MakeSpec:
    """Return a function that merges facts and, where a path is given, a profile."""

    def make(
        changed: Facts | None = None,
        profile: Path | None = None,
        docs: bool = True,
        rules: CommandSet | None = None,
    ) -> Spec:
        return merge(
            facts=changed or facts,
            rules=rules or load_commands(),
            profile=load_profile(profile, COMMANDS, "profile.toml"),
            docs=load_docs() if docs else {},
            provenance=Provenance("https://example.org/spdk", "v1", "0" * 40, "BSD-3-Clause"),
            facts_sha256="f" * 64,
        )

    return make


@pytest.fixture(scope="session")
def spec(make_spec: MakeSpec) -> Spec:
    """Return the spec with the default profile."""
    return make_spec()
