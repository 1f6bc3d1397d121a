"""The Python twin, rendered afresh and imported under a name of its own."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from xiokv.codegen.render.python import twin as render_twin
from xiokv.codegen.spec.model import SemanticField, Spec

Import = Callable[..., ModuleType]
MakeSpec = Callable[..., Spec]


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
