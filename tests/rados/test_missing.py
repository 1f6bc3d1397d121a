"""Without librados: a store on Ceph says what to install, and everything else works.

The compiler is the real one behind a wrapper that keeps a part of librados from it; what it
compiled before is kept from it, too, but for the libraries that need no librados.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.errors import ExitCode

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")

PROGRAM = """
import sys
import numpy as np
from xiokv import runtime

try:
    runtime.Emulator(store="rados://pool/tenant?connect_timeout=1")
except runtime.RuntimeFault as fault:
    print(int(fault.exit_code), type(fault).__name__, fault)
value = np.full((1, 64), 7, np.uint8)
with runtime.Emulator() as controller, runtime.load(module=sys.argv[1]).attach(controller) as kv:
    kv.store([b"a"], value).raise_for_status()
    out = np.zeros_like(value)
    kv.retrieve([b"a"], out).raise_for_status()
    assert (out == value).all()
print("all else works")
"""

# Headers are found in folders that hold all that the real ones hold, but not rados.
NO_HEADERS = """\
#!/bin/bash
farm=$(dirname "$0")/include
words=(-nostdinc -nostdinc++)
while read -r folder; do
    if [[ -e $folder/rados ]]; then
        mkdir -p "$farm$folder"
        for path in "$folder"/*; do
            [[ $path == */rados ]] || ln -sfn "$path" "$farm$folder/"
        done
        folder=$farm$folder
    fi
    words+=(-isystem "$folder")
done < <(c++ -E -Wp,-v -x c++ /dev/null 2>&1 | sed -n 's/^ \\(\\/.*\\)/\\1/p')
exec c++ "${words[@]}" "$@"
"""

# The linker looks for a library that nobody has.
NO_LIBRARY = """\
#!/bin/bash
exec c++ "${@/#-lrados/-lrados-of-nobody}" -O0
"""

# What is linked asks, when it is loaded, for a library that is gone by then.
NO_LOADING = """\
#!/bin/bash
gone=$(dirname "$0")/librados.so
[[ " $* " == *" -lrados "* ]] &&
    c++ -shared -x c++ /dev/null -o "$gone" -Wl,-soname,librados.so.of-nobody
exec c++ "-L$(dirname "$0")" "$@" -O0
"""

NO_COMPILER = ""

OTHER_FAULT = """\
#!/bin/bash
words=(-Wfatal-errors -DXIOKV_RADOS_READ_ONLY=+++ -include xiokv_rados.h)
[[ " $* " == *" -lrados "* ]] || words=()
exec c++ "${words[@]}" "$@"
"""


@pytest.fixture
def run_without(
    tmp_path: Path, recipe: Any, module: Any
) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Return a function that runs the program with a compiler, and a bare cache."""
    cache = tmp_path / "cache"
    for built in (toolchain.build_cached(toolchain.capi_recipe(version("xiokv"))), module.path):
        place = cache / built.parent.relative_to(toolchain.cache_folder().parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(built.parent)
    compiler = tmp_path / "bin" / "c++"

    def run(text: str) -> subprocess.CompletedProcess[str]:
        compiler.parent.mkdir()
        if text:
            compiler.write_text(text, encoding="utf-8")
            compiler.chmod(0o755)
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "CXX": str(compiler)}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, module.path],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(NO_HEADERS, id="headers"),
        pytest.param(NO_LIBRARY, id="library", marks=pytest.mark.slow),
        pytest.param(NO_LOADING, id="loading", marks=pytest.mark.slow),
    ],
)
def test_without_a_part_of_librados_the_message_says_what_to_install(
    run_without: Callable[[str], subprocess.CompletedProcess[str]], text: str
) -> None:
    done = run_without(text)
    first, *_, last = done.stdout.splitlines()
    assert first.startswith(f"{int(ExitCode.MISSING)} MissingFault a store on Ceph needs librados")
    assert "install libradospp-dev (Debian, Ubuntu) or libradospp-devel (Fedora" in first
    assert (last, done.returncode) == ("all else works", 0), done.stderr


def test_without_a_compiler_the_message_says_so(
    run_without: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = run_without(NO_COMPILER)
    assert done.stdout.startswith(f"{int(ExitCode.MISSING)} MissingFault $CXX names "), done.stdout


def test_another_fault_of_compiling_is_no_missing_library(
    run_without: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = run_without(OTHER_FAULT)
    assert done.stdout.startswith(f"{int(ExitCode.FAILURE)} RuntimeFault "), done.stdout
