"""The Python twin, rendered afresh and imported under a name of its own."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from xiokv.codegen import ir
from xiokv.codegen.facts import Facts
from xiokv.codegen.render.python import twin as render_twin
from xiokv.codegen.semantics.commands import load_commands
from xiokv.codegen.semantics.docs import load_docs
from xiokv.codegen.spec.merge import merge
from xiokv.codegen.spec.model import Profile, Provenance, SemanticField, Spec

IR = Path(__file__).resolve().parents[2] / "generated" / "spec" / "nvme_kv.json"

Import = Callable[..., ModuleType]
MakeSpec = Callable[..., Spec]


@pytest.fixture(scope="session")
def facts() -> Facts:
    """Return the facts of the committed spec file."""
    return ir.load(IR.read_text(encoding="utf-8"), IR.name)


@pytest.fixture(scope="session")
def make_spec(facts: Facts) -> MakeSpec:
    """Return a function that makes the spec with a profile of the fields given."""

    def make(*fields: SemanticField) -> Spec:
        return merge(
            facts=facts,
            rules=load_commands(),
            profile=Profile("test", fields),
            docs=load_docs(),
            provenance=Provenance("https://example.org/spdk", "v1", "0" * 40, "BSD-3-Clause"),
            facts_sha256="f" * 64,
        )

    return make


@pytest.fixture(scope="session")
def import_twin(make_spec: MakeSpec, tmp_path_factory: pytest.TempPathFactory) -> Import:
    """Return a function that imports the twin of a profile with the fields given."""

    def load(*fields: SemanticField) -> ModuleType:
        path = tmp_path_factory.mktemp("twin") / "their_kv.py"
        path.write_text(render_twin(make_spec(*fields)), encoding="utf-8")
        name = f"their_kv_{path.parent.name}"
        found = importlib.util.spec_from_file_location(name, path)
        assert found
        assert found.loader
        module = importlib.util.module_from_spec(found)
        sys.modules[name] = module
        found.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def twin(import_twin: Import) -> ModuleType:
    """Return the twin of the default profile."""
    return import_twin()
