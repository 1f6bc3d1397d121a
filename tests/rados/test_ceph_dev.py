"""scripts/ceph-dev.sh: what it starts and stops, and what it leaves alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cluster import PROGRAMS, SCRIPT

pytestmark = pytest.mark.slow


def run(
    *arguments: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPT, *arguments],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def processes(folder: Path) -> list[str]:
    """Return the command lines of all processes that name a folder."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().decode().replace("\0", " "))
        except OSError:
            continue  # it ended meanwhile
    return [line for line in lines if f"{folder}/" in line]


def rados(folder: Path, *arguments: str, value: bytes = b"") -> bytes:
    command = ["rados", "--conf", folder / "ceph.conf", "-p", "xiokv", *arguments]
    return subprocess.run(command, input=value, capture_output=True, check=True, timeout=60).stdout


@pytest.fixture
def folder(ceph_is_here: None) -> Iterator[Path]:
    """Return a folder that is not there, for a cluster that is stopped after the test."""
    # Not below pytest's folders: the path of a socket is short.
    with tempfile.TemporaryDirectory(prefix="xiokv-ceph-") as above:
        folder = Path(above) / "a"
        yield folder
        for made in Path(above).glob("*/ceph.conf"):
            run("stop", "--dir", made.parent)


def test_a_cluster_from_start_to_stop(folder: Path) -> None:
    started = run("start", "--dir", folder)
    assert started.returncode == 0, started.stderr
    assert started.stderr == ""
    assert f"conf     {folder}/ceph.conf\n" in started.stdout
    assert f"keyring  {folder}/client.admin.keyring\n" in started.stdout
    assert f"URL      rados://xiokv/tenant?conf={folder}/ceph.conf\n" in started.stdout
    assert len(processes(folder)) == 2
    rados(folder, "put", "name", "-", value=b"value")

    before = processes(folder)
    again = run("start", "--dir", folder)
    assert again.returncode == 0, again.stderr
    assert "mon runs already, process " in again.stdout
    assert "osd runs already, process " in again.stdout
    assert processes(folder) == before
    assert rados(folder, "get", "name", "-") == b"value"

    status = run("status", "--dir", folder)
    assert status.returncode == 0
    assert "mon      runs, process " in status.stdout
    assert "osd      runs, process " in status.stdout

    stopped = run("stop", "--dir", folder)
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (0, "", "")
    assert processes(folder) == []
    assert not folder.exists()


def test_what_is_kept_is_there_at_the_next_start(folder: Path) -> None:
    run("start", "--dir", folder)
    rados(folder, "put", "name", "-", value=b"value")
    assert run("stop", "--keep", "--dir", folder).returncode == 0
    assert processes(folder) == []
    assert run("status", "--dir", folder).returncode == 3

    started = run("start", "--dir", folder)
    assert started.returncode == 0, started.stderr
    assert rados(folder, "get", "name", "-") == b"value"


def test_one_daemon_is_stopped_started_and_killed(folder: Path) -> None:
    run("start", "--dir", folder)
    for verb in ("stop", "kill"):
        for daemon, other in (("mon", "osd"), ("osd", "mon")):
            assert run(verb, daemon, "--dir", folder).returncode == 0
            (left,) = processes(folder)
            assert left.startswith(f"ceph-{other} ")
            status = run("status", "--dir", folder)
            assert status.returncode == 3
            assert f"{daemon}      does not run" in status.stdout
            assert run("start", daemon, "--dir", folder).returncode == 0
            assert len(processes(folder)) == 2


def test_two_clusters_stand_side_by_side(folder: Path) -> None:
    other = folder.with_name("b")
    for place in (folder, other):
        assert run("start", "--dir", place).returncode == 0
        rados(place, "put", "name", "-", value=place.name.encode())
    for place in (folder, other):
        assert rados(place, "get", "name", "-") == place.name.encode()
    assert run("stop", "--dir", folder).returncode == 0
    assert rados(other, "get", "name", "-") == b"b"


def test_the_process_of_another_is_not_killed(folder: Path) -> None:
    run("start", "--dir", folder)
    pids = {name: (folder / f"{name}.pid").read_text() for name in ("mon", "osd")}
    with subprocess.Popen(["sleep", "600"]) as stranger:
        for name in pids:
            (folder / f"{name}.pid").write_text(f"{stranger.pid}\n")
        status = run("status", "--dir", folder)
        run("kill", "osd", "--dir", folder)
        run("stop", "--keep", "--dir", folder)
        lives = stranger.poll() is None
        stranger.kill()
    for name, pid in pids.items():
        (folder / f"{name}.pid").write_text(pid)
    assert lives
    assert status.returncode == 3
    assert "osd      does not run" in status.stdout


def test_files_of_others_stay_and_are_told(folder: Path) -> None:
    """A cluster starts beside them, and ends."""
    folder.mkdir()
    mine = ["client.txt", "notes.log", "notes.txt"]
    for _ in range(2):
        for name in mine:
            (folder / name).write_text("mine")
        started = run("start", "--dir", folder)
        assert (started.returncode, started.stderr) == (0, "")
        stopped = run("stop", "--dir", folder)
        assert (stopped.returncode, stopped.stderr) == (0, "")
        told = f"left in {folder}, and not this script's: {' '.join(mine)}\n"
        assert stopped.stdout == told
        assert sorted(path.name for path in folder.iterdir()) == mine
        assert processes(folder) == []


@pytest.mark.parametrize("name", ["mon", "osd.log", "client.someone.keyring"])
def test_files_in_the_place_of_a_cluster_are_named(folder: Path, name: str) -> None:
    """Stopping the cluster would remove them."""
    folder.mkdir()
    (folder / name).write_text("mine")
    started = run("start", "--dir", folder)
    assert started.returncode == 2
    assert f"no cluster in {folder}, and files in the place of one: {name}" in started.stderr
    assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize("harm", ["killed", "killed after a stop", "killed with the monitor"])
def test_a_memstore_that_was_killed_comes_back_empty_and_says_so(folder: Path, harm: str) -> None:
    run("start", "--dir", folder)
    rados(folder, "put", "name", "-", value=b"value")
    ceph = ("ceph", "--conf", folder / "ceph.conf")
    subprocess.run([*ceph, "osd", "pool", "create", "other", "4"], check=True, capture_output=True)
    if harm == "killed after a stop":
        run("stop", "osd", "--dir", folder)
        again = run("start", "osd", "--dir", folder)
        assert "lost" not in again.stdout
        assert rados(folder, "get", "name", "-") == b"value"
    run("kill", "osd", "--dir", folder)
    if harm == "killed with the monitor":
        run("kill", "mon", "--dir", folder)
        assert "does not start without a monitor" in run("start", "osd", "--dir", folder).stderr
    started = run("start", "--dir", folder)
    assert started.returncode == 0, started.stderr
    assert "the OSD was killed, and all values in its memory are lost: its pools" in started.stdout
    for pool in ("xiokv", "other"):
        assert rados(folder, "-p", pool, "ls") == b""
        rados(folder, "-p", pool, "put", "name", "-", value=b"new")
        assert rados(folder, "-p", pool, "get", "name", "-") == b"new"
    assert "lost" not in run("start", "--dir", folder).stdout


def test_a_bluestore_that_was_killed_keeps_its_values(folder: Path) -> None:
    run("start", "--store", "bluestore", "--dir", folder)
    rados(folder, "put", "name", "-", value=b"value")
    run("kill", "osd", "--dir", folder)
    started = run("start", "--dir", folder)
    assert (started.returncode, started.stderr) == (0, "")
    assert "lost" not in started.stdout
    assert rados(folder, "get", "name", "-") == b"value"


def test_the_configuration_of_another_cluster_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "ceph.conf").write_text("[global]\n")
    for verb in ("start", "stop", "status"):
        done = run(verb, "--dir", folder)
        assert done.returncode == 2
        assert "ceph.conf was not written by this script" in done.stderr
    assert (folder / "ceph.conf").read_text() == "[global]\n"


@pytest.fixture
def without_osd(folder: Path) -> dict[str, str]:
    """Return surroundings in which an OSD cannot run, and says so in its log."""
    programs = folder.with_name("bin")
    programs.mkdir()
    osd = programs / "ceph-osd"
    osd.write_text(f"#!/bin/sh\necho no disk today >>{folder}/osd.log\nexit 1\n")
    osd.chmod(0o755)
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}


def test_a_start_that_fails_says_why_and_leaves_nothing(
    folder: Path, without_osd: dict[str, str]
) -> None:
    started = run("start", "--dir", folder, env=without_osd)
    assert started.returncode == 1
    assert "no disk today" in started.stderr
    assert "the cluster did not start, and nothing of it stays" in started.stderr
    assert processes(folder) == []
    assert not folder.exists()


def test_a_daemon_that_fails_to_start_takes_no_other_with_it(
    folder: Path, without_osd: dict[str, str]
) -> None:
    run("start", "--dir", folder)
    rados(folder, "put", "name", "-", value=b"value")
    run("stop", "osd", "--dir", folder)
    started = run("start", "--dir", folder, env=without_osd)
    assert started.returncode == 1
    assert "no disk today" in started.stderr
    (left,) = processes(folder)
    assert left.startswith("ceph-mon ")
    assert run("start", "--dir", folder).returncode == 0
    assert rados(folder, "get", "name", "-") == b"value"


@pytest.mark.skipif(os.geteuid() != 0, reason="these tests run as an ordinary user already")
def test_an_ordinary_user_may_start_one(folder: Path) -> None:
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if (
        not os.access(SCRIPT, os.X_OK)
        or subprocess.run([*nobody, "test", "-x", SCRIPT], check=False).returncode
    ):
        pytest.skip("this checkout is not to be read by an ordinary user")
    os.chown(folder.parent, 65534, 65534)
    for verb in ("start", "stop"):
        done = subprocess.run(
            [*nobody, SCRIPT, verb, "--dir", folder],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    assert processes(folder) == []


# What follows starts nothing.


def test_the_folder_is_the_callers(tmp_path: Path) -> None:
    by_option = run("status", "--dir", "c", cwd=tmp_path)
    assert by_option.stdout == f"there is no cluster in {tmp_path}/c\n"
    by_variable = run("status", env={**os.environ, "XIOKV_CEPH_DIR": f"{tmp_path}/d"})
    assert by_variable.stdout == f"there is no cluster in {tmp_path}/d\n"
    assert (by_option.returncode, by_variable.returncode) == (3, 3)
    assert run("stop", "--dir", "c", cwd=tmp_path).returncode == 0


def test_a_path_too_long_for_a_socket_is_refused(ceph_is_here: None, tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 25)
    started = run("start", "--dir", folder)
    assert started.returncode == 2
    length = len(f"{folder}/mon.asok")
    assert f"{folder}/mon.asok has {length} bytes" in started.stderr
    assert "at most 107" in started.stderr
    assert '--dir "$(mktemp -d)"' in started.stderr
    assert not folder.exists()


def test_a_path_that_the_configuration_cannot_hold_is_refused(
    ceph_is_here: None, tmp_path: Path
) -> None:
    started = run("start", "--dir", tmp_path / "a;b")
    assert started.returncode == 2
    assert "ceph.conf cannot name the folder" in started.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "say start, stop, kill or status"),
        (("begin",), "unknown argument 'begin'"),
        (("start", "--dir"), "--dir needs a value"),
        (("start", "--store", "tape"), "--store tape: there are memstore and bluestore"),
        (("kill",), "kill needs mon or osd"),
    ],
)
def test_what_it_does_not_take_is_said_first(arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"ceph-dev.sh: {said}"


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """Return a PATH without Ceph's programs, and without those that would install them."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "realpath", "dirname", "sed", "env"):
        (programs / name).symlink_to(shutil.which(name) or "")
    return str(programs)


def test_missing_programs_are_named_by_their_packages(tmp_path: Path, bare_path: str) -> None:
    done = run("start", "--dir", tmp_path / "c", env={"PATH": bare_path})
    assert done.returncode == 5
    assert f"missing Debian packages: {' '.join(PROGRAMS.values())}" in done.stderr
    assert not (tmp_path / "c").exists()


def test_the_suite_goes_on_without_what_cannot_be_installed(bare_path: str) -> None:
    setup = SCRIPT.parent / "lib" / "setup.sh"
    lines = f'source {setup}; set_up_optional no "Ceph" "ceph-mon ceph-mon"; echo went on'
    done = subprocess.run(
        ["bash", "-c", lines], env={"PATH": bare_path}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "went on\n")
    assert "missing Debian packages: ceph-mon" in done.stderr
    assert "going on without Ceph" in done.stderr
