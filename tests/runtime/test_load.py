"""load: where a module is looked for, and what is refused before anything is launched."""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import abi, search, toolchain
from xiokv.runtime.description import SemanticField
from xiokv.runtime.errors import ArgumentFault, ExitCode, MissingFault, RuntimeFault
from xiokv.runtime.gpu.kernels import kernel_file
from xiokv.runtime.module import load
from xiokv.runtime.project import nearest_project
from xiokv.runtime.search import find

LIBRARY = "xiokv_host.so"
SPEC = "5" * 64
KERNELS = ("store", "retrieve")

# A library of a module's outside: its identity, and kernels that do nothing.
OUTSIDE = """
#include <cstdint>
extern "C" {{
uint64_t xiokv_module_abi[2] = {{{version}u, {layout}u}};
char xiokv_module_spec[65] = "{spec}";
{kernels}
}}
"""


@pytest.fixture(scope="module")
def compiled(recipe: toolchain.Recipe) -> Path:
    """Return the folder of a good host module."""
    return toolchain.build_cached(recipe).parent


@pytest.fixture
def copy(compiled: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies the good module into a new folder."""

    def make(*parts: str) -> Path:
        return Path(shutil.copytree(compiled, tmp_path.joinpath(*(parts or ("module",)))))

    return make


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that belongs to no project."""
    folder = tmp_path / "away"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def in_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder below a project's."""
    (project / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "er")
    return project


def edit(folder: Path, **changes: Any) -> None:
    """Change members of a description; None removes one."""
    path = folder / "module.json"
    document = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))


def describe(folder: Path) -> None:
    """Let the description state the hash of the file as it is."""
    digest = hashlib.sha256((folder / LIBRARY).read_bytes()).hexdigest()
    edit(folder, files={LIBRARY: digest})


def refusal(place: Path) -> str:
    """Return why the module at a place is refused."""
    with pytest.raises(RuntimeFault) as caught:
        load(module=place)
    assert caught.value.exit_code is ExitCode.FAILURE
    return str(caught.value)


# Where it is looked for.


@pytest.mark.parametrize("name", ["", LIBRARY, "module.json"])
def test_the_argument_may_name_folder_file_or_description(copy, name: str) -> None:
    assert load(module=copy() / name).path.name == LIBRARY


def test_the_argument_goes_before_the_environment(copy, monkeypatch) -> None:
    monkeypatch.setenv("XIOKV_MODULE", str(copy("environment")))
    assert load(module=copy("argument")).path.parent.name == "argument"


def test_the_environment_goes_before_the_project(copy, in_project, monkeypatch) -> None:
    copy("project", "build", "xiokv", "host")
    monkeypatch.setenv("XIOKV_MODULE", str(copy("environment")))
    assert load().path.parent.name == "environment"


def test_the_project_goes_before_the_cache(copy, in_project: Path) -> None:
    folder = copy("project", "build", "xiokv", "host")
    assert load().path == folder / LIBRARY


def test_the_project_says_where_it_compiles_to(copy, in_project: Path) -> None:
    (in_project / "xiokv.toml").write_text('[compile]\ndir = "out/there"\n')
    folder = copy("project", "out", "there", "host")
    assert load().path == folder / LIBRARY


def test_the_search_for_a_project_stops_at_the_root_of_a_checkout(copy, away: Path) -> None:
    (away.parent / "xiokv.toml").touch()
    folder = copy("build", "xiokv", "host")
    assert load().path.parent != folder


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python does not tell such loops")
def test_a_loop_of_links_is_an_error(in_project: Path) -> None:
    (in_project / "loop").symlink_to("loop")
    (in_project / "xiokv.toml").write_text('[compile]\ndir = "loop/modules"')
    with pytest.raises(RuntimeFault, match=r"\[compile\] dir leads nowhere"):
        load()


def test_a_working_folder_that_is_gone_belongs_to_no_project(
    in_project: Path, compiled: Path
) -> None:
    Path.cwd().rmdir()
    assert load().path.parent == compiled


def test_a_working_folder_that_may_not_be_looked_into_belongs_to_no_project(
    in_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    assert nearest_project() is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("compile = [", "cannot be read"),
        ("compile = 3", r"\[compile\] dir is 3; a path is needed"),
        ("[compile]\ndir = 3", r"\[compile\] dir is 3; a path is needed"),
        ('[compile]\ndir = "a\\u0000b"', "a path is needed"),
        ('[compile]\ndir = "../elsewhere"', "leaves the project's folder"),
        ('[compile]\ndir = "/"', "leaves the project's folder"),
    ],
)
def test_a_project_that_cannot_be_read_is_an_error(in_project: Path, text: str, said: str) -> None:
    (in_project / "xiokv.toml").write_text(text)
    with pytest.raises(RuntimeFault, match=said) as caught:
        load()
    assert str(in_project / "xiokv.toml") in str(caught.value)


def test_without_a_module_the_host_module_is_compiled_into_the_cache(
    away: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(away / "cache"))
    module = load()
    assert module.target == "host"
    assert module.path.parent.parent == away / "cache" / "xiokv"
    before = module.path.stat().st_mtime_ns
    assert load().path.stat().st_mtime_ns == before


def test_without_module_and_compiler_the_package_to_install_is_named(
    away: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(away / "cache"))
    monkeypatch.setenv("PATH", str(away))
    with pytest.raises(MissingFault) as caught:
        load()
    assert caught.value.exit_code is ExitCode.MISSING
    first, *places = str(caught.value).splitlines()
    assert "apt-get install g++" in first
    assert places == [
        "looked at $XIOKV_MODULE: not set",
        "looked at the nearest xiokv.toml: none",
    ]


OLD_NVCC = """#!/bin/sh
case $1 in
  --version) echo "Cuda compilation tools, release 12.4, V12.4.1" ;;
  --list-gpu-code) echo sm_80 ;;
  --list-gpu-arch) echo compute_80 ;;
esac
"""


@pytest.mark.parametrize(
    "wanted", [lambda: find("cuda", "sm_120"), lambda: kernel_file("copier", "cuda", "sm_120")]
)
def test_a_compiler_that_does_not_know_the_device_is_a_missing_one(
    tmp_path: Path, away: Path, monkeypatch: pytest.MonkeyPatch, wanted: Callable[[], object]
) -> None:
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(OLD_NVCC)
    nvcc.chmod(0o755)
    monkeypatch.setenv("XIOKV_NVCC", str(nvcc))
    with pytest.raises(MissingFault, match="does not know sm_120: use a newer one") as caught:
        wanted()
    assert caught.value.exit_code is ExitCode.MISSING


@pytest.mark.parametrize("source", ["environment", "project"])
def test_an_unusable_module_is_never_skipped(
    copy, in_project: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    folder = copy("project", "build", "xiokv", "host")
    if source == "environment":
        folder = copy("environment")
        monkeypatch.setenv("XIOKV_MODULE", str(folder))
    (folder / LIBRARY).write_bytes(b"")
    with pytest.raises(RuntimeFault, match="truncated") as caught:
        load()
    assert f": {folder}" in str(caught.value)
    assert "the argument" not in str(caught.value)


def test_what_a_killed_build_left_in_a_project_is_no_module(in_project: Path) -> None:
    folder = in_project / "build" / "xiokv" / "host"
    folder.mkdir(parents=True)
    (folder / ".lock").touch()
    (folder / ".xiokv_host.so.12345678.tmp").write_bytes(b"half")
    assert load().path.parent != folder


def test_one_log_line_says_what_was_loaded_and_who_named_it(
    copy, caplog: pytest.LogCaptureFixture
) -> None:
    folder = copy()
    with caplog.at_level(logging.INFO, "xiokv"):
        load(module=folder)
    (line,) = caplog.messages
    assert str(folder / LIBRARY) in line
    assert "the argument module" in line
    assert f"host module for {platform.machine()}" in line


# Targets.


def test_an_unknown_target_names_those_there_are() -> None:
    with pytest.raises(ArgumentFault, match=r"target 'sycl': .* driver for cuda, hip, host"):
        load("sycl")


def test_the_environment_forces_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XIOKV_TARGET", "sycl")
    with pytest.raises(ArgumentFault, match=r"target 'sycl' \(\$XIOKV_TARGET\)"):
        load("host")


def test_a_target_that_is_forced_is_told_of_with_what_it_overrules(
    copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy()
    monkeypatch.setenv("XIOKV_TARGET", "hip")
    monkeypatch.setitem(sys.modules, "hip", None)
    for wanted in (lambda: load("host"), lambda: load("host", module=folder)):
        with pytest.raises(MissingFault, match="hip-python") as caught:
            wanted()
        assert str(caught.value).splitlines()[-1] == (
            "target: hip ($XIOKV_TARGET), which overrules host"
        )


@pytest.mark.parametrize(
    ("argument", "told"),
    [("cuda", ["target: host ($XIOKV_TARGET), which overrules cuda"]), ("host", []), (None, [])],
)
def test_a_target_that_is_overruled_is_warned_of(
    copy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, argument, told
) -> None:
    monkeypatch.setenv("XIOKV_TARGET", "host")
    with caplog.at_level(logging.WARNING, "xiokv"):
        assert load(argument, module=copy()).target == "host"
    assert caplog.messages == told


def test_a_module_of_a_target_without_a_driver_is_named(copy) -> None:
    folder = copy()
    edit(folder, target="sycl")
    assert "was built for target 'sycl'" in refusal(folder).splitlines()[0]


def test_a_module_of_another_target_than_asked_for_names_both(copy) -> None:
    folder = copy()
    edit(folder, target="cuda")
    with pytest.raises(RuntimeFault, match="built for target 'cuda'; what is wanted is host"):
        load("host", module=folder)


def test_the_host_has_one_device() -> None:
    with pytest.raises(ArgumentFault, match="device 1: the host is device 0"):
        load("host", device=1)


# What is refused, each with its own words.


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


@pytest.fixture
def outside(copy) -> Callable[..., Path]:
    """Return a function that makes a module with the given outside and nothing within."""

    def make(**changes: Any) -> Path:
        folder = copy()
        version, layout = abi.VERSION, abi.layout_hash()
        values = {"version": version, "layout": layout, "spec": SPEC, "names": KERNELS, **changes}
        values["kernels"] = "".join(f"void xiokv_batch_{n}() {{}}\n" for n in values["names"])
        text = OUTSIDE.format(**values)
        for name in changes.get("without", ()):
            text = text.replace(name, "xiokv_other")
        (folder / LIBRARY).unlink()
        command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", folder / LIBRARY]
        subprocess.run(command, input=text, text=True, check=True)
        kernels = {name: {"kernel": f"xiokv_batch_{name}"} for name in KERNELS}
        edit(folder, spec=SPEC, commands=kernels)
        describe(folder)
        return folder

    return make


def test_a_module_whose_outside_fits_is_loaded(outside) -> None:
    assert load(module=outside()).description.spec == SPEC


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 99}, f"has ABI version 99, the runtime {abi.VERSION}"),
        ({"layout": 0xABC}, f"(0000000000000abc) than the runtime does ({abi.layout_hash():016x})"),
        ({"spec": "6" * 64}, "holds spec 666666666666, its description says 555555555555"),
        ({"names": ("store",)}, "lacks xiokv_batch_retrieve"),
        ({"without": ("xiokv_module_abi",)}, "lacks xiokv_module_abi"),
        ({"without": ("xiokv_module_spec",)}, "lacks xiokv_module_spec"),
    ],
    ids=["version", "layout", "spec", "kernel", "abi symbol", "spec symbol"],
)
def test_a_module_that_does_not_fit_is_refused(outside, changes, said: str) -> None:
    first, built, running, *_ = refusal(outside(**changes)).splitlines()
    assert said in first
    assert "xiokv-gen build --target host" in first
    assert built.startswith(f"built: host module for {platform.machine()}, spec 555555555555")
    assert running.startswith(f"running: {platform.machine()}, ABI version {abi.VERSION}")


# What a loaded module says.


def test_a_command_is_known_by_its_entry(module) -> None:
    assert module.kernel("retrieve") == "xiokv_batch_retrieve"


def test_an_unknown_command_names_those_there_are(module) -> None:
    with pytest.raises(ArgumentFault, match="no command 'exec'; it has delete, exist, list"):
        module.kernel("exec")


def test_the_fields_of_the_profile_come_with_the_module(copy) -> None:
    folder = copy()
    field = {"name": "layer", "dword": 12, "bits": {"msb": 7, "lsb": 0}, "scope": "batch"}
    edit(folder, profile={"name": "mine", "fields": [{**field, "commands": ["store"]}]})
    description = load(module=folder).description
    assert description.profile == "mine"
    assert description.fields == (SemanticField("layer", 12, 7, 0, "batch", ("store",)),)
