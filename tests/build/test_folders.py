"""A folder of several images: made once, whole or not at all, and kept clean."""

from __future__ import annotations

import fcntl
import itertools
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.errors import RuntimeFault

from .conftest import Build, StandIn, described

TWO = ("gfx942", "gfx1100")
FILES = {"xiokv_gfx942.hsaco", "xiokv_gfx1100.hsaco"}
ALWAYS = {".lock", "module.json"}

BUILD = """
import sys
from pathlib import Path
from xiokv.runtime import toolchain
recipe = toolchain.recipe("hip", Path(sys.argv[1]), "0", ("gfx942", "gfx1100"))
toolchain.build(recipe, Path(sys.argv[2]))
"""

# The same, killed when it has moved some files.
KILLED = f"""
import itertools, os, signal
from pathlib import Path
moved, move = itertools.count(), Path.replace
def replace(path, place):
    if next(moved) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return move(path, place)
Path.replace = replace
{BUILD}"""


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder that are no build's own business, with their bytes."""
    return {path.name: path.read_bytes() for path in folder.glob("[!.]*")}


def test_a_build_gives_the_folder_or_the_one_file(stand_in: StandIn, build: Build) -> None:
    folder = build(*TWO)
    assert files(folder) == FILES | ALWAYS
    assert set(described(folder)["files"]) == FILES
    assert build("gfx942") == folder / "xiokv_gfx942.hsaco"


def test_what_is_up_to_date_is_not_compiled_again(stand_in: StandIn, build: Build) -> None:
    build(*TWO)
    (build(*TWO) / ".lock").unlink()
    assert files(build(*TWO)) == FILES | {"module.json"}
    assert len(stand_in.calls) == 2


def _damage(name: str, generated: Path, out: Path, stand_in: StandIn) -> None:
    if name == "unit":
        (generated / "kernels" / "kv_kernels.cpp").write_text("other")
    elif name == "header":
        (generated / "include" / "part.h").write_text("other")
    elif name == "new header":
        (generated / "include" / "more.h").write_text("more")
    elif name == "spec":
        (generated / "kernels" / "kv_module.json").write_text('{"spec": "2"}')
    elif name == "compiler":
        stand_in.tell(version="another clang version 19\n")
    elif name == "image":
        (out / "xiokv_gfx942.hsaco").write_bytes(b"cut")
    elif name == "lost image":
        (out / "xiokv_gfx942.hsaco").unlink()
    elif name == "description":
        (out / "module.json").write_text('{"files": [], "key": 3}')


@pytest.mark.parametrize(
    "change",
    ["unit", "header", "new header", "spec", "compiler", "image", "lost image", "description"],
)
def test_all_is_compiled_again_after_a_change_of(
    stand_in: StandIn, build: Build, generated: Path, change: str
) -> None:
    folder = build(*TWO)
    before = described(folder)["key"]
    _damage(change, generated, folder, stand_in)
    build(*TWO)
    assert len(stand_in.calls) == 4
    is_input = change in ("unit", "header", "new header", "spec", "compiler")
    assert (described(folder)["key"] != before) == is_input


def test_the_key_changes_with_generator_and_architectures(
    stand_in: StandIn, build: Build, tmp_path: Path
) -> None:
    keys = set()
    for architectures, generator in [(TWO, "0"), (TWO, "1"), (TWO[::-1], "0"), (TWO[:1], "0")]:
        build(*architectures, generator=generator)
        keys.add(described(tmp_path / "out")["key"])
    assert len(keys) == 4


def test_the_key_changes_with_the_flags_of_an_image(stand_in: StandIn, generated: Path) -> None:
    recipe = toolchain.recipe("hip", generated, "0", ("gfx942",))
    (output,) = recipe.outputs
    changed = toolchain.Output(output.file, output.arch, (*output.flags, "-g"))
    other = toolchain.Recipe((changed,), recipe.sources, recipe.flags, recipe.description)
    compiler = recipe.find_compiler()
    assert other.key(compiler) != recipe.key(compiler)


def test_images_of_an_earlier_build_go_and_other_files_stay(
    stand_in: StandIn, build: Build, tmp_path: Path
) -> None:
    folder = build(*TWO)
    (folder / "xiokv_gfx90a.hsaco").write_text("somebody else's")
    (folder / ".notes.tmp").write_text("mine")
    build("gfx1100")
    assert files(folder) == ALWAYS | {"xiokv_gfx1100.hsaco", "xiokv_gfx90a.hsaco", ".notes.tmp"}
    assert set(described(folder)["files"]) == {"xiokv_gfx1100.hsaco"}


def test_images_of_an_earlier_build_go_even_after_one_that_failed(
    stand_in: StandIn, build: Build, generated: Path
) -> None:
    folder = build(*TWO)
    (generated / "include" / "part.h").write_text("other")
    stand_in.tell(fails="gfx942")
    with pytest.raises(RuntimeFault):
        build(*TWO)
    build("gfx1100")
    assert files(folder) == ALWAYS | {"xiokv_gfx1100.hsaco"}


def test_what_is_in_the_way_of_an_image_leaves_the_former_module(
    stand_in: StandIn, build: Build
) -> None:
    folder = build("gfx942", "gfx90a")
    before = contents(folder)
    in_the_way = folder / "xiokv_gfx1100.hsaco"
    in_the_way.mkdir()
    with pytest.raises(RuntimeFault, match="Is a directory"):
        build(*TWO)
    in_the_way.rmdir()
    assert contents(folder) == before
    build("gfx1100")
    assert files(folder) == ALWAYS | {"xiokv_gfx1100.hsaco"}


def test_what_was_taken_away_is_no_longer_a_builds(stand_in: StandIn, build: Build) -> None:
    folder = build(*TWO)
    build("gfx1100")
    (folder / "xiokv_gfx942.hsaco").write_text("somebody else's")
    build("gfx1100", generator="1")
    assert files(folder) == ALWAYS | FILES


def test_a_lock_file_cannot_name_files_elsewhere(
    stand_in: StandIn, build: Build, tmp_path: Path
) -> None:
    folder = build(*TWO)
    (tmp_path / "mine").write_text("mine")
    (folder / ".hidden").write_text("mine")
    (folder / ".lock").write_text(f"../mine\n{tmp_path}/mine\n.hidden\n..\n\nxiokv_gfx942.hsaco\n")
    build("gfx1100")
    assert files(folder) == ALWAYS | {"xiokv_gfx1100.hsaco", ".hidden"}
    assert (tmp_path / "mine").exists()


def test_when_one_image_fails_none_is_left(stand_in: StandIn, build: Build, tmp_path: Path) -> None:
    stand_in.tell(fails="gfx1100")
    with pytest.raises(RuntimeFault) as caught:
        build(*TWO)
    first, second = str(caught.value).splitlines()
    assert first == f"{stand_in.path} could not compile xiokv_gfx1100.hsaco (exit code 1):"
    assert second == "boom"
    assert files(tmp_path / "out") == {".lock"}


def test_a_build_that_fails_leaves_the_former_module(
    stand_in: StandIn, build: Build, tmp_path: Path
) -> None:
    build("gfx942")
    before = contents(tmp_path / "out")
    stand_in.tell(fails="gfx1100")
    with pytest.raises(RuntimeFault):
        build(*TWO)
    assert contents(tmp_path / "out") == before
    build("gfx942")
    assert len(stand_in.calls) == 3
    stand_in.tell(fails="none")
    assert files(build(*TWO)) == FILES | ALWAYS


def test_two_images_are_compiled_at_a_time(stand_in: StandIn, build: Build, wait_until) -> None:
    with ThreadPoolExecutor() as pool:
        with stand_in.waiting("gfx"):
            built = pool.submit(build, "gfx942", "gfx1100", "gfx1151")
            wait_until(lambda: len(stand_in.calls) == 2)
        built.result(timeout=20)
    assert len(stand_in.calls) == 3


def test_of_two_builds_at_once_one_compiles(
    stand_in: StandIn, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Barrier(2)
    lock = fcntl.flock

    def meet_and_lock(file: int, operation: int) -> None:
        both.wait(timeout=20)
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", meet_and_lock)
    with ThreadPoolExecutor() as pool:
        builds = [pool.submit(build, *TWO) for _ in range(2)]
        folders = [built.result(timeout=20) for built in builds]
    assert len(stand_in.calls) == 2
    assert [files(folder) for folder in folders] == [FILES | ALWAYS] * 2


@pytest.mark.parametrize("former", [(), ("gfx90a", "gfx942")], ids=["none", "one"])
def test_a_kill_in_mid_build_leaves_the_former_module(
    stand_in: StandIn, build: Build, generated: Path, tmp_path: Path, wait_until, former
) -> None:
    out = tmp_path / "out"
    if former:
        build(*former)
    before = contents(out)
    command = [sys.executable, "-c", BUILD, generated, out]
    with stand_in.waiting("gfx1100"):
        process = subprocess.Popen(command, start_new_session=True)
        try:
            wait_until(lambda: any(out.glob(".*.tmp/xiokv_gfx1100.hsaco")))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert contents(out) == before
    assert files(build(*TWO)) == FILES | ALWAYS


def test_a_kill_at_any_rename_leaves_a_whole_module_or_none(
    stand_in: StandIn, build: Build, generated: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    seen = []
    for kept in itertools.count():
        build("gfx90a", "gfx942", generator=str(kept))
        older = contents(out)
        command = [sys.executable, "-c", KILLED, generated, out, str(kept)]
        killed = subprocess.run(command, check=False).returncode == -signal.SIGKILL
        described_now = (out / "module.json").exists()
        seen.append("none" if not described_now else "older" if contents(out) == older else "new")
        if seen[-1] == "new":
            assert set(described(out)["files"]) == FILES
        assert files(build(*TWO)) == FILES | ALWAYS
        if not killed:
            break
    # The description, what it describes, as many new files, and their description.
    assert seen == ["older", *["none"] * 5, "new"]


def test_a_folder_that_cannot_be_written_is_named(
    stand_in: StandIn, build: Build, tmp_path: Path
) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(RuntimeFault, match="has to be writable") as caught:
        build(*TWO)
    assert str(caught.value).startswith(f"cannot build {tmp_path / 'out'}: ")
    assert "XDG_CACHE_HOME" not in str(caught.value)


def test_for_a_cache_that_cannot_be_written_the_variable_is_named(
    stand_in: StandIn, generated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    recipe = toolchain.recipe("hip", generated, "0", TWO)
    with pytest.raises(RuntimeFault, match=r"has to be writable \(XDG_CACHE_HOME moves the"):
        toolchain.build_cached(recipe)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", " (exit code 3) and said nothing"),
        ("echo; exit 3", " (exit code 3) and said nothing"),
        ("exit 0", " (it wrote no file) and said nothing"),
        ("echo out; exit 3", " (exit code 3):\nout"),
        ("echo out; echo error >&2; exit 3", " (exit code 3):\nerror"),
    ],
)
def test_what_a_compiler_said_follows_or_that_it_said_nothing(
    generated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] || {{ {script}; }}\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(RuntimeFault) as caught:
        toolchain.build(toolchain.host_recipe(generated, "0"), tmp_path / "out")
    assert str(caught.value) == f"{compiler} could not compile xiokv_host.so{said}"
