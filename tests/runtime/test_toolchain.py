"""Compiling into a folder: when it happens, that it happens once, and what a failure leaves."""

from __future__ import annotations

import ctypes
import io
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.errors import ExitCode, MissingFault, RuntimeFault
from xiokv.runtime.toolchain import Compiler, Recipe, Sources, library_recipe

FLAGS = ("-shared", "-fPIC")

# Builds the recipe of `small` in another process. It says when it is about to lock.
BUILD = """
import fcntl, sys
from pathlib import Path
from xiokv.runtime import toolchain
lock = fcntl.flock
def said(*arguments):
    print("locking", flush=True)
    lock(*arguments)
fcntl.flock = said
sources = toolchain.Sources(Path(sys.argv[1]), ("unit.cpp",), "include", ("unit.cpp",))
recipe = toolchain.library_recipe("small.so", sources, ("-shared", "-fPIC"), {"spec": "1"})
print(toolchain.build(recipe, Path(sys.argv[2])), flush=True)
"""

# A compiler that writes a line for each compilation, writes half a library, and goes on
# once somebody opens the pipe. It answers --version as g++ does.
SLOW = """#!/bin/sh
[ "$1" = --version ] && exec g++ --version
echo compiling >> "{folder}/calls"
for output; do :; done
echo half > "$output"
read line < "{folder}/pipe"
exec g++ "$@"
"""


@pytest.fixture
def small(tmp_path: Path) -> Recipe:
    """Return the recipe of a library whose only function returns 1."""
    root = tmp_path / "sources"
    (root / "include").mkdir(parents=True)
    (root / "unit.cpp").write_text('extern "C" int answer() { return 1; }\n')
    sources = Sources(root, ("unit.cpp",), "include", ("unit.cpp",))
    return library_recipe("small.so", sources, FLAGS, {"spec": "1"})


def answer(library: Path) -> int:
    """Return what the library's function returns."""
    return int(ctypes.CDLL(str(library)).answer())


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_same_inputs_have_the_same_key(small: Recipe) -> None:
    compiler = Compiler("g++", "g++ 1")
    assert replace(small).key(compiler) == small.key(replace(compiler))


@pytest.mark.parametrize(
    "change",
    ["spec", "source", "header", "flags", "compiler", "architecture"],
)
def test_the_key_changes_with(change: str, small: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    header = small.sources.root / "include" / "part.h"
    header.write_text("int part;\n")
    small = replace(small, sources=replace(small.sources, read=("unit.cpp", "include/part.h")))
    compiler = Compiler("g++", "g++ 1")
    before = small.key(compiler)
    if change == "spec":
        small = replace(small, description={"spec": "2"})
    elif change == "source":
        (small.sources.root / "unit.cpp").write_text("\n")
    elif change == "header":
        header.write_text("int other;\n")
    elif change == "flags":
        small = replace(small, flags=(*FLAGS, "-O2"))
    elif change == "compiler":
        compiler = Compiler("g++", "g++ 2")
    else:
        monkeypatch.setattr(platform, "machine", lambda: "another")
    assert small.key(compiler) != before


def test_the_host_module_depends_on_every_generated_header_and_on_the_spec(
    recipe: Recipe,
) -> None:
    include = recipe.sources.root / "include"
    headers = {f"include/{path.relative_to(include)}" for path in include.rglob("*.h")}
    assert set(recipe.sources.read) == headers | {"kernels/kv_kernels.cpp"}
    assert len(recipe.description["spec"]) == 64


def test_a_build_leaves_the_library_and_what_it_is(small: Recipe, tmp_path: Path) -> None:
    library = toolchain.build(small, tmp_path / "out")
    assert answer(library) == 1
    assert files(library.parent) == {"small.so", "module.json", ".lock"}
    described = json.loads((library.parent / "module.json").read_text())
    assert described["spec"] == "1"
    assert described["arch"] == platform.machine()
    assert described["flags"] == list(FLAGS)
    assert described["key"] == small.key(toolchain.find_cxx())
    summed = subprocess.run(["sha256sum", library], capture_output=True, text=True, check=True)
    assert described["files"] == {"small.so": summed.stdout.split()[0]}


def test_what_is_up_to_date_is_neither_compiled_nor_locked(small: Recipe, tmp_path: Path) -> None:
    library = toolchain.build(small, tmp_path / "out")
    (library.parent / ".lock").unlink()
    before = library.stat().st_mtime_ns
    assert toolchain.build(small, tmp_path / "out") == library
    assert library.stat().st_mtime_ns == before
    assert files(library.parent) == {"small.so", "module.json"}


@pytest.mark.parametrize("damage", ["source", "library", "description"])
def test_what_is_not_up_to_date_is_compiled_again(
    damage: str, small: Recipe, tmp_path: Path
) -> None:
    library = toolchain.build(small, tmp_path / "out")
    if damage == "source":
        (small.sources.root / "unit.cpp").write_text('extern "C" int answer() { return 2; }\n')
    elif damage == "library":
        library.write_bytes(library.read_bytes()[:100])
    else:
        (library.parent / "module.json").write_text("{")
    toolchain.build(small, tmp_path / "out")
    assert answer(library) == (2 if damage == "source" else 1)


def test_a_failed_compile_says_why_and_leaves_nothing(small: Recipe, tmp_path: Path) -> None:
    (small.sources.root / "unit.cpp").write_text("int broken(\n" * 30)
    with pytest.raises(RuntimeFault) as caught:
        toolchain.build(small, tmp_path / "out")
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("could not compile small.so (exit code 1):")
    assert any("unit.cpp:" in line for line in lines[1:])
    assert len(lines) <= 22
    assert files(tmp_path / "out") == {".lock"}


def test_a_failed_compile_leaves_the_former_module_which_is_not_current(
    small: Recipe, tmp_path: Path
) -> None:
    library = toolchain.build(small, tmp_path / "out")
    former = (library.read_bytes(), library.with_name("module.json").read_bytes())
    (small.sources.root / "unit.cpp").write_text("broken\n")
    for _ in range(2):
        with pytest.raises(RuntimeFault, match="could not compile"):
            toolchain.build(small, tmp_path / "out")
        assert (library.read_bytes(), library.with_name("module.json").read_bytes()) == former


def test_without_a_compiler_the_package_to_install_is_named(
    small: Recipe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingFault, match=r"apt-get install g\+\+") as caught:
        toolchain.build(small, tmp_path / "out")
    assert caught.value.exit_code is ExitCode.MISSING
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_written_is_named(small: Recipe, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RuntimeFault, match="has to be writable") as caught:
        toolchain.build(small, tmp_path / "file" / "out")
    assert str(tmp_path / "file" / "out") in str(caught.value)


def test_a_folder_may_be_relative(
    small: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer(toolchain.build(small, Path("out")).absolute()) == 1


def test_a_place_that_a_folder_takes_is_no_fault_of_the_compiler(
    small: Recipe, tmp_path: Path
) -> None:
    (tmp_path / "out" / "small.so").mkdir(parents=True)
    with pytest.raises(RuntimeFault, match=r"cannot build .*small\.so: Is a directory"):
        toolchain.build(small, tmp_path / "out")
    assert files(tmp_path / "out") == {".lock", "small.so"}


def test_a_compiler_that_writes_nothing_is_named(
    small: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "true")
    with pytest.raises(RuntimeFault, match=r"true could not compile .*it wrote no file"):
        toolchain.build(small, tmp_path / "out")


class Terminal(io.StringIO):
    """A stderr that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "lines"), [(Terminal(), 1), (io.StringIO(), 0)])
def test_progress_is_one_line_and_for_a_terminal(
    small: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO,
    lines: int,
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    for _ in range(2):
        toolchain.build(small, tmp_path / "out")
    assert len(stream.getvalue().splitlines()) == lines


class Slow:
    """Processes that build `small` with a compiler that waits to be let go on."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        self.out = folder / "out"
        self._folder = folder
        self._recipe = recipe
        self._processes: list[subprocess.Popen[str]] = []
        os.mkfifo(folder / "pipe")
        (folder / "cxx").write_text(SLOW.format(folder=folder))
        (folder / "cxx").chmod(0o755)

    @property
    def compilations(self) -> int:
        calls = self._folder / "calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0

    def start(self) -> subprocess.Popen[str]:
        """Start a build, and return once it is about to lock the folder."""
        process = subprocess.Popen(
            [sys.executable, "-c", BUILD, self._recipe.sources.root, self.out],
            env={**os.environ, "CXX": str(self._folder / "cxx")},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "locking\n"
        return process

    def let_go(self) -> None:
        """Wait until a compiler waits, and let it go on."""
        with (self._folder / "pipe").open("w") as pipe:
            pipe.write("go\n")

    def kill(self) -> None:
        """Kill every process and its compiler where it stands."""
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def slow(small: Recipe, tmp_path: Path) -> Iterator[Slow]:
    running = Slow(small, tmp_path)
    yield running
    running.kill()


def test_of_two_processes_one_compiles_and_both_load(slow: Slow) -> None:
    processes = [slow.start(), slow.start()]
    slow.let_go()
    libraries = [process.communicate(timeout=30)[0].strip() for process in processes]
    assert libraries == [str(slow.out / "small.so")] * 2
    assert slow.compilations == 1
    assert answer(slow.out / "small.so") == 1


def test_a_kill_in_mid_compile_blocks_nothing(small: Recipe, slow: Slow, wait_until) -> None:
    slow.start()
    wait_until(lambda: any(path.stat().st_size for path in slow.out.glob(".*.tmp/small.so")))
    slow.kill()
    assert answer(toolchain.build(small, slow.out)) == 1
    assert files(slow.out) == {"small.so", "module.json", ".lock"}
