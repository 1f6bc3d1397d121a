"""What is refused before anything is loaded, each with its own words."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import pytest

from xiokv.runtime import search
from xiokv.runtime.errors import ExitCode, RuntimeFault
from xiokv.runtime.module import load

from .conftest import LIBRARY, describe, edit, refusal


def test_a_place_with_nothing_there_is_named(tmp_path: Path) -> None:
    assert f"no module at {tmp_path / 'none'}" in refusal(tmp_path / "none")


@pytest.mark.parametrize("inside", [False, True], ids=["elsewhere", "beside a module"])
def test_a_file_that_is_none_of_a_module_is_no_module(copy, tmp_path: Path, inside: bool) -> None:
    place = (copy() if inside else tmp_path) / "passwd"
    place.touch()
    assert f"{place} is no module: that is a folder" in refusal(place).splitlines()[0]


def test_a_folder_without_anything_of_a_module_is_no_module(tmp_path: Path) -> None:
    assert f"{tmp_path} is no module: that is a folder" in refusal(tmp_path)


@pytest.mark.parametrize("place", ["", "out", "out/there"])
def test_a_folder_above_modules_names_them(
    copy, project: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (project / "xiokv.toml").write_text('[compile]\ndir = "out/there"\n')
    folder = copy("project", "out", "there", "host")
    monkeypatch.setenv("XIOKV_MODULE", str(project / place))
    with pytest.raises(RuntimeFault) as caught:
        load()
    first, second = str(caught.value).splitlines()
    if place == "out":
        assert "is no module: that is a folder" in first
    else:
        assert first.endswith(f"is no module; name one of those below: {folder}")
    assert second == f"found by $XIOKV_MODULE: {project / place}"


def test_a_place_that_the_system_refuses_is_told_with_who_named_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / ("long" * 100)
    monkeypatch.setenv("XIOKV_MODULE", str(place))
    with pytest.raises(RuntimeFault) as caught:
        load()
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"{place} cannot be read: File name too long; ")
    assert second == f"found by $XIOKV_MODULE: {place}"


def test_a_projects_folder_that_may_not_be_looked_into_is_told(
    in_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(place: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr(search, "is_module", refuse)
    with pytest.raises(RuntimeFault, match="cannot be looked into: Permission denied") as caught:
        load("host")
    assert str(caught.value).splitlines()[1] == "found by the nearest xiokv.toml"


@pytest.mark.parametrize("source", ["argument", "project"])
def test_files_are_looked_at_before_what_runs_them(
    copy, in_project: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    folder = copy("project", "build", "xiokv", "hip")
    edit(folder, target="hip")
    (folder / LIBRARY).write_bytes(b"")
    monkeypatch.setitem(sys.modules, "hip", None)
    with pytest.raises(RuntimeFault, match="is truncated or was changed") as caught:
        load("hip", module=folder if source == "argument" else None)
    assert caught.value.exit_code is ExitCode.FAILURE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is truncated or damaged"),
        ("{", "is truncated or damaged"),
        ("\0\x01\x7f", "is truncated or damaged"),
        ("[" * 100_000, "is truncated or damaged"),
        ("[]", "schema is missing"),
        ("{}", "schema is missing"),
        ('{"schema": "xiokv-module/9"}', "schema 'xiokv-module/9'"),
    ],
)
def test_a_damaged_description_is_named(copy, text: str, said: str) -> None:
    folder = copy()
    (folder / "module.json").write_text(text)
    first = refusal(folder).splitlines()[0]
    assert said in first
    assert str(folder / "module.json") in first
    assert "xiokv" in first.partition(said)[2]  # what to do


@pytest.mark.parametrize(
    "name",
    ["target", "arch", "compiler", "generator", "facts", "spec", "files", "commands", "profile"],
)
@pytest.mark.parametrize("value", [None, 7], ids=["missing", "a number"])
def test_an_incomplete_description_names_what_is_missing(copy, name: str, value) -> None:
    folder = copy()
    edit(folder, **{name: value})
    assert f"{name} is missing" in refusal(folder)


def field(**changes: object) -> dict[str, object]:
    """Return a field as a description has it, with something changed."""
    bits = {"msb": 19, "lsb": 16}
    known = {"name": "tier", "dword": 11, "bits": bits, "scope": "key", "commands": ["store"]}
    return known | changes


DAMAGED = (
    field(dword=10),
    field(bits={"msb": 19, "lsb": 15}),
    field(bits={"msb": 32, "lsb": 16}),
    field(bits={"msb": 16, "lsb": 19}),
    field(scope="queue"),
    field(commands=["shred"]),
    field(commands=[1]),
)


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {}},
        {"files": {"a.so": "0", "b.so": "0"}},
        {"files": {"../a.so": "0"}},
        {"files": {LIBRARY: 7}},
        {"images": [{"file": ""}]},
        {"images": [{"file": "a\0b"}]},
        {"images": [{"file": "a/b"}]},
        {"commands": {"store": {}}},
        {"profile": {"name": "x", "fields": [{}]}},
        *({"profile": {"name": "x", "fields": [field]}} for field in DAMAGED),
    ],
    ids=str,
)
def test_a_description_of_another_shape_is_refused(copy, changes) -> None:
    folder = copy()
    edit(folder, **changes)
    assert str(folder / "module.json") in refusal(folder)


def test_a_module_without_its_description_is_refused(copy) -> None:
    folder = copy()
    (folder / "module.json").unlink()
    assert "module.json is not there" in refusal(folder)


def test_another_architecture_is_named_beside_this_one(copy) -> None:
    folder = copy()
    (image,) = json.loads((folder / "module.json").read_text())["images"]
    edit(folder, arch="riscv64", images=[{**image, "arch": "riscv64"}])
    first = refusal(folder).splitlines()[0]
    assert "riscv64" in first
    assert platform.machine() in first


@pytest.mark.parametrize("damage", ["truncated", "changed", "empty"])
def test_a_file_that_is_not_the_described_one_is_not_loaded(copy, damage: str) -> None:
    folder = copy()
    whole = (folder / LIBRARY).read_bytes()
    changed = {"truncated": whole[:5000], "changed": whole[:-1] + b"\xff", "empty": b""}
    (folder / LIBRARY).write_bytes(changed[damage])
    assert "is truncated or was changed" in refusal(folder)


def test_a_file_that_is_missing_is_named(copy) -> None:
    folder = copy()
    (folder / LIBRARY).unlink()
    assert f"{folder / LIBRARY} cannot be read" in refusal(folder)


def test_a_file_that_is_no_library_is_named(copy) -> None:
    folder = copy()
    (folder / LIBRARY).write_text("no library")
    describe(folder)
    assert f"{folder / LIBRARY} cannot be loaded" in refusal(folder)
