"""A folder of several images: made once, whole or not at all, and kept clean."""

from __future__ import annotations

import fcntl
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


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


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


def test_images_of_a_build_that_broke_off_go(
    stand_in: StandIn, build: Build, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "out" / "xiokv_gfx1100.hsaco"
    in_the_way.mkdir(parents=True)
    with pytest.raises(RuntimeFault, match="Is a directory"):
        build(*TWO)
    assert files(tmp_path / "out") == {".lock", *FILES}
    in_the_way.rmdir()
    build("gfx1100")
    assert files(tmp_path / "out") == ALWAYS | {"xiokv_gfx1100.hsaco"}


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


def test_a_failed_build_leaves_no_older_module_that_looks_current(
    stand_in: StandIn, build: Build, tmp_path: Path
) -> None:
    build("gfx942")
    stand_in.tell(fails="gfx1100")
    with pytest.raises(RuntimeFault):
        build(*TWO)
    assert "module.json" not in files(tmp_path / "out")


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


def test_a_kill_in_mid_build_blocks_nothing(
    stand_in: StandIn, build: Build, generated: Path, tmp_path: Path, wait_until
) -> None:
    command = [sys.executable, "-c", BUILD, generated, tmp_path / "out"]
    with stand_in.waiting("gfx1100"):
        process = subprocess.Popen(command, start_new_session=True)
        try:
            wait_until(lambda: any((tmp_path / "out").glob(".*.tmp/xiokv_gfx1100.hsaco")))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert "module.json" not in files(tmp_path / "out")
    assert files(build(*TWO)) == FILES | ALWAYS


def test_a_folder_that_cannot_be_written_is_named(
    stand_in: StandIn, build: Build, tmp_path: Path
) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(RuntimeFault, match="has to be writable") as caught:
        build(*TWO)
    assert str(caught.value).startswith(f"cannot build {tmp_path / 'out'}: ")
