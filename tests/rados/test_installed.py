"""A program in C that opens a pool: libxiokv_rados installed, found and linked with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .cluster import Cluster

GEN = (sys.executable, "-c", "from xiokv.codegen.cli import main; main()")
PROGRAM = Path(__file__).with_name("open_pool.c")

Gen = Callable[..., "subprocess.CompletedProcess[str]"]

pytestmark = pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config")


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
    emit = 'emit = ["headers", "engine", "pkgconfig"]'
    toml.write_text(re.sub("(?m)^emit = .*", emit, text), encoding="utf-8")
    assert run("build", "--target", "host").returncode == 0
    return run


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


def test_without_librados_nothing_is_installed(gen: Gen, tmp_path: Path) -> None:
    """The compiler does not find its header."""
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
