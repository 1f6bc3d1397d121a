"""Where a module is looked for, and which one is taken."""

from __future__ import annotations

import logging
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xiokv.runtime.errors import ExitCode, MissingFault, RuntimeFault
from xiokv.runtime.gpu.kernels import kernel_file
from xiokv.runtime.module import load
from xiokv.runtime.project import nearest_project
from xiokv.runtime.search import find

from .conftest import LIBRARY


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
