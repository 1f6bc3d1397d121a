"""How a program in C finds a module, and why it refuses one."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import native
from xiokv.runtime import toolchain
from xiokv.runtime.drivers import host_library

LIBRARY = "xiokv_host.so"
Load = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def load(own_surroundings: None) -> Load:
    """Return a function that loads a module as C does: a code, and what was said."""
    functions = host_library.load()
    functions.xiokv_load.argtypes = (ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
    describe = functions.xiokv_module_describe
    describe.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)

    def call(place: Path | None = None) -> tuple[int, str]:
        module = ctypes.c_void_p()
        code = functions.xiokv_load(bytes(place) if place else None, ctypes.byref(module))
        if code != 0:
            return code, host_library.said()
        text = ctypes.create_string_buffer(4096)
        assert describe(module, text, len(text)) == len(text.value)
        return code, text.value.decode()

    return call


@pytest.fixture
def copy(recipe: toolchain.Recipe, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies a good module into a new folder."""
    made = toolchain.build_cached(recipe).parent

    def make(*parts: str) -> Path:
        return Path(shutil.copytree(made, tmp_path.joinpath(*(parts or ("module",)))))

    return make


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of no project, with a cache that is empty."""
    folder = tmp_path / "away"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("XIOKV_MODULE", raising=False)
    return folder


def edit(folder: Path, **changes: Any) -> None:
    path = folder / "module.json"
    document = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))


def exchange(folder: Path, text: str) -> None:
    """Put another library there, of which the description knows."""
    source = folder.parent / "library"
    source.mkdir()
    (source / "unit.cpp").write_text(text)
    made = native.library("other.so", source)
    shutil.copy(made, folder / LIBRARY)
    edit(folder, files={LIBRARY: hashlib.sha256((folder / LIBRARY).read_bytes()).hexdigest()})


# Finding.


@pytest.mark.parametrize("part", ["", LIBRARY, "module.json"])
def test_a_module_is_named_by_its_folder_file_or_description(load: Load, copy, part: str) -> None:
    code, said = load(copy() / part)
    assert (code, said.endswith("found by the caller")) == (0, True)


def test_the_environment_goes_before_the_project(
    load: Load, copy, away: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (away / "xiokv.toml").touch()
    copy("away", "build", "xiokv", "host")
    monkeypatch.setenv("XIOKV_MODULE", str(copy()))
    assert load()[1].endswith("found by $XIOKV_MODULE")


PROJECTS = {
    "": "build/xiokv",
    "[compile]\ntargets = []\n": "build/xiokv",
    '[compile]\ndir = "out/there" # so\n': "out/there",
    "[output]\ndir = 'no'\n[compile]\n  dir='out'\n": "out",
}


@pytest.mark.parametrize("text", PROJECTS)
def test_a_projects_module_is_found_from_below(
    load: Load, copy, away: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (away / "xiokv.toml").write_text(text)
    folder = copy("away", *PROJECTS[text].split("/"), "host")
    (away / "deep").mkdir()
    monkeypatch.chdir(away / "deep")
    code, said = load()
    assert (code, said.split(": ")[0]) == (0, str(folder / LIBRARY))
    assert said.endswith("found by the nearest xiokv.toml")


def test_no_project_above_a_checkout_is_looked_at(load: Load, copy, away: Path) -> None:
    (away.parent / "xiokv.toml").touch()
    copy("build", "xiokv", "host")
    code, said = load()
    assert code == -34
    lines = said.splitlines()
    assert lines[1] == "looked at $XIOKV_MODULE: not set"
    assert lines[3] == "looked at the nearest xiokv.toml: none"


def test_a_folder_of_modules_in_another_notation_is_told(load: Load, away: Path) -> None:
    (away / "xiokv.toml").write_text('[compile]\ndir = """x"""\n')
    assert "[compile] dir is no string in quotes; name the module" in load()[1]


def test_the_newest_module_of_this_version_is_taken_from_the_cache(
    load: Load, copy, away: Path
) -> None:
    for number, name in enumerate(("older", "newer", "other version", "other target")):
        folder = copy("cache", "xiokv", name)
        stamp = (1_000_000 + number, 1_000_000 + number)
        os.utime(folder / LIBRARY, stamp)
    edit(away.parent / "cache/xiokv/other version", generator="0.0.1")
    edit(away.parent / "cache/xiokv/other target", target="hip")
    assert "/cache/xiokv/newer/" in load()[1]


# Refusing.

REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a truncated library": (
        lambda folder: (folder / LIBRARY).write_bytes((folder / LIBRARY).read_bytes()[:5000]),
        "is truncated or was changed: its SHA-256 is",
    ),
    "no library": (lambda folder: (folder / LIBRARY).unlink(), "cannot be read: No such file"),
    "a damaged description": (
        lambda folder: (folder / "module.json").write_text('{"schema": '),
        "is truncated or damaged: no JSON",
    ),
    "no description": (lambda folder: (folder / "module.json").unlink(), "is no module"),
    "another schema": (lambda folder: edit(folder, schema="xiokv-module/9"), "this library reads"),
    "a module for a GPU": (
        lambda folder: edit(folder, target="hip"),
        "was built for target hip; this library runs modules for host",
    ),
    "another processor": (
        lambda folder: edit(folder, images=[{"file": LIBRARY, "arch": "riscv64"}]),
        "was built for riscv64, and this machine is",
    ),
    "a file elsewhere": (
        lambda folder: edit(folder, images=[{"file": "../x.so", "arch": ""}]),
        "'../x.so' is no file beside the description",
    ),
    "a member that is missing": (lambda folder: edit(folder, spec=None), "no spec in it"),
    "a field in no reserved place": (
        lambda folder: edit(
            folder,
            profile={
                "fields": [
                    {"dword": 11, "bits": {"msb": 15, "lsb": 8}, "commands": ["store"]},
                ]
            },
        ),
        "is damaged: a field at CDW11[15:8]",
    ),
    "another spec inside": (
        lambda folder: edit(folder, spec="0" * 64),
        "its description says 000000000000",
    ),
    "a library without identity": (
        lambda folder: exchange(folder, "extern int x; int x;"),
        "lacks xiokv_module_abi",
    ),
    "another ABI": (
        lambda folder: exchange(
            folder,
            '#include <stdint.h>\nextern "C" { extern uint64_t xiokv_module_abi[2];\n'
            "uint64_t xiokv_module_abi[2] = {99, 1}; extern char xiokv_module_spec[65];\n"
            "char xiokv_module_spec[65] = {}; void xiokv_batch_delete() {}\n"
            "void xiokv_batch_exist() {} void xiokv_batch_list() {}\n"
            "void xiokv_batch_retrieve() {} void xiokv_batch_store() {} }",
        ),
        "has ABI version 99",
    ),
    "text in place of a library": (
        lambda folder: (
            (folder / LIBRARY).write_text("no"),
            edit(folder, files={LIBRARY: hashlib.sha256(b"no").hexdigest()}),
        ),
        "cannot be loaded",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_module_that_cannot_be_used(load: Load, copy, what: str) -> None:
    folder = copy()
    change, words = REFUSED[what]
    change(folder)
    code, said = load(folder)
    assert code == -35
    assert words in said
    assert load(copy("again"))[0] == 0


def test_a_place_with_nothing_there(load: Load, tmp_path: Path) -> None:
    assert load(tmp_path / "none")[0] == -34
