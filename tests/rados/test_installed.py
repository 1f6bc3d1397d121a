"""A program in C that opens a pool: libxiokv_rados installed, found and linked with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import toolchain

from .cluster import Cluster

GEN = (sys.executable, "-c", "from xiokv.codegen.cli import main; main()")
PROGRAM = Path(__file__).with_name("open_pool.c")

Gen = Callable[..., "subprocess.CompletedProcess[str]"]

CMAKE = """
cmake_minimum_required(VERSION 3.20)
project(opens LANGUAGES C)
find_package(xiokv 0.1 REQUIRED COMPONENTS rados)
add_executable(open_pool "${PROGRAM}")
target_link_libraries(open_pool PRIVATE xiokv::rados)
"""


@pytest.fixture
def gen(tmp_path: Path, own_surroundings: None) -> Gen:
    """Return what runs xiokv-gen in a project that has headers, engine and pkg-config."""
    project = tmp_path / "project"
    project.mkdir()

    def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*GEN, *map(str, words)],
            cwd=project,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    assert run("init").returncode == 0
    toml = project / "xiokv.toml"
    text = toml.read_text(encoding="utf-8")
    emit = 'emit = ["headers", "engine", "cmake", "pkgconfig"]'
    toml.write_text(re.sub("(?m)^emit = .*", emit, text), encoding="utf-8")
    assert run("build", "--emit-only").returncode == 0
    return run


def configured(folder: Path, prefix: Path) -> subprocess.CompletedProcess[str]:
    """Let CMake find the library below a prefix for the program."""
    if not shutil.which("cmake"):
        pytest.skip("no CMake here")
    (folder / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    settings = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPROGRAM={PROGRAM}")
    return subprocess.run(
        ["cmake", "-S", folder, "-B", folder / "out", *settings],
        capture_output=True,
        text=True,
        check=False,
    )


def test_cmake_finds_it_as_a_component(gen: Gen, cluster: Cluster, tmp_path: Path) -> None:
    prefix = tmp_path / "a prefix"
    assert gen("install", "--prefix", prefix, "--host", "--rados").returncode == 0
    moved = prefix.rename(tmp_path / "moved")
    done = configured(tmp_path, moved)
    assert done.returncode == 0, done.stderr
    subprocess.run(["cmake", "--build", tmp_path / "out"], check=True, capture_output=True)
    where = (str(cluster.conf), "nowhere", "tenant")
    ran = subprocess.run(
        [tmp_path / "out/open_pool", *where], capture_output=True, text=True, check=False
    )
    assert ran.stdout.startswith("the cluster has no pool nowhere; make it"), ran.stderr


def test_cmake_says_what_to_run_where_it_is_not_installed(gen: Gen, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    assert gen("install", "--prefix", prefix, "--host").returncode == 0
    done = configured(tmp_path, prefix)
    assert done.returncode == 1
    advice = "run xiokv-gen install --prefix PREFIX --host --rados, and find the package in PREFIX"
    assert advice in " ".join(done.stderr.split())


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config")
def test_a_program_opens_a_pool_and_all_is_taken_away(
    gen: Gen, cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    prefix = tmp_path / "a prefix"
    done = gen("install", "--prefix", prefix, "--host", "--rados")
    assert done.returncode == 0, done.stderr
    assert f"wrote {prefix}/lib/xiokv/rados/libxiokv_rados.so\n" in done.stdout
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "xiokv-rados"],
        env={**os.environ, "PKG_CONFIG_PATH": f"{prefix}/share/pkgconfig"},
        capture_output=True,
        text=True,
        check=True,
    )
    program = tmp_path / "open_pool"
    line = f'cc -std=c11 -Wall -Wextra -Werror "{PROGRAM}" -o "{program}" {found.stdout}'
    subprocess.run(["bash", "-c", line], check=True, timeout=60)

    where = (str(cluster.conf), cluster.pool, namespace)
    done = subprocess.run(
        [program, *where],
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "XIOKV_MODULE": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "the same\n", "")
    assert cluster.rados("get", b"from C".hex(), "-", namespace=namespace) == b"c" * 4096
    cluster.empty(namespace)

    refused = subprocess.run(
        [program, *where[:1], "nowhere", namespace], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert refused.stdout.startswith("the cluster has no pool nowhere; make it")

    assert gen("install", "--prefix", prefix, "--host", "--rados").stdout.startswith("what is")
    assert gen("uninstall", "--prefix", prefix).returncode == 0
    assert [path for path in prefix.rglob("*") if not path.is_dir()] == []


def test_it_goes_with_the_library_that_it_is_for(gen: Gen, tmp_path: Path) -> None:
    done = gen("install", "--prefix", tmp_path / "prefix", "--rados")
    assert done.returncode == 2
    assert "--rados goes with the library that it is for: give --host, too" in done.stderr


def test_without_librados_nothing_is_installed(gen: Gen, module: Any, tmp_path: Path) -> None:
    """The compiler does not find its header; all else was compiled before."""
    for built in (toolchain.build_cached(toolchain.capi_recipe(version("xiokv"))), module.path):
        place = tmp_path / "cache" / built.parent.relative_to(toolchain.cache_folder().parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(built.parent)
    compiler = tmp_path / "c++"
    compiler.write_text(
        '#!/bin/bash\n[[ " $* " != *" -lrados "* ]] ||'
        ' { echo "fatal error: rados/librados.hpp: No such file or directory" >&2; exit 1; }\n'
        'exec c++ "$@"\n',
        encoding="utf-8",
    )
    compiler.chmod(0o755)
    prefix = tmp_path / "prefix"
    surroundings = {"CXX": str(compiler), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = gen("install", "--prefix", prefix, "--host", "--rados", **surroundings)
    assert done.returncode == 5
    assert "install libradospp-dev (Debian, Ubuntu)" in done.stderr.splitlines()[0]
    assert not prefix.exists()
