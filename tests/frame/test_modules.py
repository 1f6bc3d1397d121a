"""The modules of the four packages: each imports, and none reaches where it must not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What the modules of a package may import of this distribution.
ALLOWED = {
    "codegen": ("xiokv.codegen", "xiokv.templates", "xiokv.runtime.toolchain"),
    "templates": (),
    "generated": ("xiokv.generated",),
    "runtime": ("xiokv.runtime", "xiokv.generated"),
}
# The generator uses it, so it may reach no other part of the runtime.
LEAF = "xiokv.runtime.toolchain"
LEAF_ALLOWED = (LEAF, "xiokv.runtime.errors")


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("xiokv", *parts)).removesuffix(".__init__")


def module_paths(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


MODULES = {module_name(path): path for package in ALLOWED for path in module_paths(package)}


def imported_names(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield the dotted name of everything a module imports; `package` is where it lies."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: 1 - node.level or None] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def strays(names: Iterator[str], allowed: tuple[str, ...]) -> list[str]:
    """Return the names within this distribution that are not under an allowed one."""
    ours = (name for name in names if name.split(".")[0] == "xiokv")
    return [name for name in ours if not any(f"{name}.".startswith(f"{a}.") for a in allowed)]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports(name: str) -> None:
    if not name.endswith("__main__"):
        import_module(name)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_what_its_package_may(name: str) -> None:
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    names = imported_names(ast.parse(path.read_text(encoding="utf-8")), package)

    allowed = LEAF_ALLOWED if f"{name}.".startswith(f"{LEAF}.") else ALLOWED[name.split(".")[1]]
    assert strays(names, allowed) == []


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("import xiokv.codegen.cli", ["xiokv.codegen.cli"]),
        ("from xiokv import codegen", ["xiokv.codegen"]),
        ("from xiokv.codegen.cli import main", ["xiokv.codegen.cli.main"]),
        ("from ..codegen import cli", ["xiokv.codegen.cli"]),
        ("def lazy():\n    import xiokv.codegen", ["xiokv.codegen"]),
        ("from . import queue", []),
        ("from xiokv.runtime_extra import thing", ["xiokv.runtime_extra.thing"]),
        ("import numpy", []),
    ],
)
def test_the_layering_rule_sees_every_form_of_import(statement: str, found: list[str]) -> None:
    names = imported_names(ast.parse(statement), "xiokv.runtime")

    assert strays(names, ALLOWED["runtime"]) == found
