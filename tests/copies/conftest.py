"""Three projects whose headers meet: two with a C++ namespace, one without.

They differ in all that a project chooses: profile, Exec, namespace.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.build_systems.conftest import well

UNITS = Path(__file__).parent / "units"
STORE = "encode('store', nsid=7, key=b'block-17', value_size=4096, options=4%s)"
EXEC = "encode_exec(nsid=7, key_length=8, input_length=24, output_size=512, operation=2)"

LAYERS = """\
schema = 1
name = "layers"
[[field]]
name = "layer"
dword = 12
bits = [7, 0]
scope = "key"
commands = ["store", "retrieve"]
unit = "index"
meaning = "Layer."
"""
EMIT = '["headers", "engine", "python", "cmake", "pkgconfig"]'


@dataclass(frozen=True)
class Project:
    """A project that is built.

    Attributes:
        folder: where its xiokv.toml is.
        namespace: its C++ namespace; empty for none.
    """

    folder: Path
    namespace: str

    @property
    def generated(self) -> Path:
        return self.folder / "generated"

    @property
    def include(self) -> Path:
        return self.generated / "include"

    @property
    def headers(self) -> Path:
        return self.include / (self.namespace.replace("::", "/") or "xiokv")

    def encoded(self, call: str) -> str:
        """Return in hexadecimal what a call of the project's own twin gives."""
        code = f"import nvme_kv; print(nvme_kv.{call}.hex())"
        return well(sys.executable, "-c", code, cwd=self.generated).strip()


Make = Callable[..., Project]


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a function that makes and builds a project."""

    def made(namespace: str, profile: str = "default", *, has_exec: bool = False) -> Project:
        folder = tmp_path_factory.mktemp("project")
        key = f'cpp_namespace = "{namespace}"\n' if namespace else ""
        (folder / "layers.toml").write_text(LAYERS, encoding="utf-8")
        (folder / "xiokv.toml").write_text(
            f'[semantics]\nprofile = "{profile}"\nexec = {str(has_exec).lower()}\n'
            f"[output]\n{key}emit = {EMIT}\n",
            encoding="utf-8",
        )
        for command in ("fetch", "build"):
            well("xiokv-gen", "--project", folder, command)
        return Project(folder, namespace)

    return made


@pytest.fixture(scope="session")
def acme(make: Make) -> Project:
    """Return a project with a nested namespace, two fields, and Exec."""
    return make("acme::kv", "kv_cache", has_exec=True)


@pytest.fixture(scope="session")
def storage(make: Make) -> Project:
    """Return a project with another namespace and a field of its own."""
    return make("storage_team", "layers.toml")


@pytest.fixture(scope="session")
def plain(make: Make) -> Project:
    """Return a project without a namespace."""
    return make("")


def compiled(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a compiler; skip where it is not installed."""
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=300, check=False
    )


def compile_well(*command: str | Path) -> None:
    """Run a compiler that must not complain."""
    done = compiled(*command)
    assert done.returncode == 0, done.stderr


def printed(program: Path) -> list[str]:
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.fixture(scope="session")
def expected(acme: Project, storage: Project, plain: Project) -> list[str]:
    """Return what the program has to print: entries are those of each project's own twin."""
    return [
        plain.encoded(STORE % ""),
        acme.encoded(STORE % ", generation=5, reuse_class=3"),
        acme.encoded(EXEC),
        storage.encoded(STORE % ", layer=200"),
        "exec list exist",
        "exec exec exec",
        "5 5",
    ]
