"""What every test relies on: the packages of this checkout, and shared fixtures."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("codegen", "templates", "generated", "runtime")

PROJECT_TOML = """\
[upstream]
ref = "bundled"

[output]
dir = "generated"
"""


def _places(package: str) -> list[Path]:
    """Return where Python finds `package`: its folders, all of them for a namespace."""
    try:
        spec = find_spec(f"xiokv.{package}")
    except ModuleNotFoundError:
        return []
    locations = (spec.submodule_search_locations if spec else None) or []
    return [Path(place).resolve() for place in locations]


def pytest_configure(config: pytest.Config) -> None:
    """Stop unless the packages under test are those of this checkout; have its test kit."""
    # What a shell starts in the background ignores interrupts, and what nohup starts hangups;
    # tests send both.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    strangers = {name: _places(name) for name in PACKAGES if _places(name) != [ROOT / name]}
    if strangers:
        seen = "\n".join(
            f"  xiokv.{name}: {', '.join(map(str, places)) or 'not found'}"
            for name, places in strangers.items()
        )
        raise pytest.UsageError(
            f"the packages under test are not those of {ROOT}:\n{seen}\n"
            "Unset PYTHONPATH, and run scripts/test.sh: it makes this checkout's own .venv."
        )
    # Pytest finds the kit by the entry point of an installed distribution.
    if not config.pluginmanager.has_plugin("xiokv"):
        config.pluginmanager.register(import_module("xiokv.runtime.testing.plugin"), "xiokv")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a user's project, apart from this repository."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / "xiokv.toml").write_text(PROJECT_TOML, encoding="utf-8")
    return folder


# The packages are imported by the fixtures that follow, and not above: what they are is
# looked at first, by pytest_configure.


@pytest.fixture(scope="session")
def facts() -> Any:
    """Return the facts of the committed spec file."""
    from xiokv.codegen import ir

    path = ROOT / "generated" / "spec" / "nvme_kv.json"
    return ir.load(path.read_text(encoding="utf-8"), path.name)


@pytest.fixture(scope="session")
def make_spec(facts: Any) -> Callable[..., Any]:
    """Return a function that merges semantic fields, or a whole profile, into a spec.

    Other facts (`of`), sentences or rules may take the place of the usual ones; `vendor`
    are rules of Exec.
    """
    from xiokv.codegen.semantics.commands import load_commands
    from xiokv.codegen.semantics.docs import load_docs
    from xiokv.codegen.spec.merge import merge
    from xiokv.codegen.spec.model import Profile, Provenance

    def make(
        *fields: Any,
        of: Any = None,
        profile: Any = None,
        docs: Any = None,
        rules: Any = None,
        vendor: Any = None,
    ):
        return merge(
            facts=of or facts,
            rules=rules or load_commands(),
            profile=profile or Profile("test", fields),
            docs=load_docs() if docs is None else docs,
            provenance=Provenance("https://example.org/spdk", "v1", "0" * 40, "BSD-3-Clause"),
            facts_sha256="f" * 64,
            vendor=vendor,
        )

    return make


@pytest.fixture(scope="session")
def spec(make_spec: Callable[..., Any]) -> Any:
    """Return the spec without a semantic field."""
    return make_spec()


@pytest.fixture(scope="session")
def spdk_git() -> Path:
    """Return the bare SPDK git directory that XIOKV_TEST_SPDK names, or skip."""
    place = os.environ.get("XIOKV_TEST_SPDK")
    if not place:
        pytest.skip("XIOKV_TEST_SPDK does not name a bare SPDK git directory")
    return Path(place)


@pytest.fixture(scope="session")
def own_surroundings() -> Iterator[None]:
    """Use a cache of the checkout's own, and no module or compiler that the caller's shell names.

    Folders in the cache are named by all that they depend on, so that one session may use
    what another compiled.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(ROOT / "build" / "cache"))
        patch.delenv("CXX", raising=False)
        for name in [name for name in os.environ if name.startswith("XIOKV_")]:
            if not name.startswith("XIOKV_TEST_"):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def recipe(own_surroundings: None) -> Any:
    """Return how the host module of this checkout is made."""
    from xiokv.runtime import toolchain

    try:
        return toolchain.host_recipe(ROOT / "generated", version("xiokv"))
    except PackageNotFoundError:
        pytest.skip("no distribution of xiokv says its version: run scripts/test.sh")


@pytest.fixture(scope="session")
def module(recipe: Any) -> Any:
    """Return the host module of this checkout, whatever a project's build left."""
    from xiokv.runtime import toolchain
    from xiokv.runtime.module import load

    return load(module=toolchain.build_cached(recipe))


@pytest.fixture(scope="session")
def wait_until() -> Callable[[Callable[[], bool]], None]:
    """Return a function that waits, for some seconds at most, until a condition holds."""

    def wait(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < end, "what was waited for did not come"
            time.sleep(0.001)

    return wait
