"""A Ceph cluster for a test: what scripts/ceph-dev.sh starts, and ways to use and to harm it.

In: the programs of ceph-mon, ceph-osd and ceph-common. Out: `Cluster`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "ceph-dev.sh"
PROGRAMS = {"ceph-mon": "ceph-mon", "ceph-osd": "ceph-osd", "ceph": "ceph-common"}

# The cluster's own thresholds, and ones that it is above from its first byte.
_RATIOS = {"nearfull": 0.85, "backfillfull": 0.9, "full": 0.95}
_TINY = 0.000001

# Stops the cluster when the test process says so, or is no more, however it ended.
_GUARD = """
read -r _
[[ ! -e $2 ]] || "$1" stop --dir "$2" && rm -rf -- "$2"
"""


def why_not() -> str:
    """Return why no cluster can be started here; empty if one can."""
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    return f"no Ceph here: apt-get install {' '.join(missing)}" if missing else ""


class CephError(Exception):
    """A command of Ceph that failed: `code` is its exit status, 124 after the time limit."""

    def __init__(self, command: list[str], code: int, said: str) -> None:
        super().__init__(f"{' '.join(command)}: exit {code}: {said.strip()}")
        self.code = code
        self.said = said


def script(*arguments: str | Path, env: dict[str, str] | None = None) -> str:
    """Run scripts/ceph-dev.sh, and return what it printed."""
    return _run([str(SCRIPT), *map(str, arguments)], env=env, limit=300).decode()


def _run(
    command: list[str],
    *,
    given: bytes | None = None,
    env: dict[str, str] | None = None,
    limit: float = 60,
) -> bytes:
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, check=False, timeout=limit, env=env
        )
    except subprocess.TimeoutExpired as late:
        raise CephError(command, 124, f"no end after {late.timeout} s") from None
    if done.returncode:
        raise CephError(command, done.returncode, (done.stderr + done.stdout).decode())
    return done.stdout


class Cluster:
    """One monitor and one OSD, in a folder that is gone after `close`.

    The cluster ends with the test process, also when that is killed.

    Attributes:
        folder: where all of it is.
        conf: path of ceph.conf.
        keyring: path of the keyring of client.admin.
        pool: name of the pool that is there from the start.
        store: kind of the OSD's store. A memstore keeps its objects over `stop_osd` and
            loses them in `kill_osd`; bluestore keeps them in both.
    """

    pool = "xiokv"

    def __init__(self, store: str = "memstore") -> None:
        self.store = store
        # Not below pytest's folders: the path of a socket is short.
        self.folder = Path(tempfile.mkdtemp(prefix="xiokv-ceph-"))
        self.conf = self.folder / "ceph.conf"
        self.keyring = self.folder / "client.admin.keyring"
        self._is_lost = False
        self._guard_says = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the guard
        self._guard = subprocess.Popen(
            ["bash", "-c", _GUARD, "guard", SCRIPT, self.folder],
            stdin=subprocess.PIPE,
            stdout=self._guard_says,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # an interrupt from the keyboard is not for it
        )
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        script("start", "--dir", self.folder, "--store", self.store)
        self._is_lost = False

    def close(self) -> None:
        """Stop the cluster and remove its folder.

        Raises:
            CephError: it could not be stopped.
        """
        if self._guard.stdin is None or self._guard.stdin.closed:
            return
        self._guard.stdin.write(b"\n")
        self._guard.stdin.close()
        code = self._guard.wait(timeout=300)
        self._guard_says.seek(0)
        said = self._guard_says.read().decode()
        self._guard_says.close()
        if code:
            raise CephError([str(SCRIPT), "stop"], code, said)

    def url(self, *, pool: str | None = None, namespace: str = "", **params: object) -> str:
        """Return the URL of a store: `rados://pool/namespace?conf=...&...`."""
        query = urlencode({"conf": self.conf, **params}, safe="/")
        return f"rados://{quote(pool or self.pool)}/{quote(namespace)}?{query}"

    # Objects.

    def rados(
        self,
        *arguments: str,
        namespace: str = "",
        pool: str | None = None,
        user: str = "admin",
        input: bytes | None = None,
        limit: float = 60,
    ) -> bytes:
        """Run `rados` in a pool and a namespace, and return what it wrote.

        Raises:
            CephError: it failed, or did not end within `limit` seconds.
        """
        place = ["--pool", pool or self.pool, *(["--namespace", namespace] if namespace else [])]
        command = ["rados", "--conf", str(self.conf), "--id", user, *place, *arguments]
        return _run(command, given=input, limit=limit)

    def put(self, name: str, value: bytes, **options: Any) -> None:
        """Write an object; the options are those of `rados`."""
        self.rados("put", name, "-", input=value, **options)

    def get(self, name: str, **options: Any) -> bytes:
        """Return what is in an object; the options are those of `rados`."""
        return self.rados("get", name, "-", **options)

    def names(self, namespace: str = "", pool: str | None = None) -> list[str]:
        """Return the names of all objects of a namespace, sorted."""
        return sorted(self.rados("ls", namespace=namespace, pool=pool).decode().splitlines())

    def empty(self, namespace: str, pool: str | None = None) -> None:
        """Remove all objects of a namespace."""
        names = self.names(namespace, pool)
        for first in range(0, len(names), 1000):
            self.rados("rm", *names[first : first + 1000], namespace=namespace, pool=pool)

    # Administration.

    def ceph(self, *arguments: str) -> str:
        """Run `ceph` as client.admin, and return what it printed.

        What only a manager knows, such as `df` and the states of placement groups, is not
        to be had: there is none.
        """
        command = ["ceph", "--conf", str(self.conf), "--connect-timeout", "20", *arguments]
        return _run(command).decode()

    def asked(self, daemon: str, *arguments: str) -> Any:
        """Return what a daemon, "mon" or "osd", answers through its admin socket."""
        socket = str(self.folder / f"{daemon}.asok")
        return json.loads(_run(["ceph", "--admin-daemon", socket, *arguments]))

    def osdmap(self) -> Any:
        """Return the OSD map, as `ceph osd dump` has it."""
        return json.loads(self.ceph("osd", "dump", "--format", "json"))

    def make_pool(self, name: str | None = None) -> str:
        """Make a pool of 8 placement groups, and return its name."""
        name = name or f"pool-{uuid.uuid4().hex[:8]}"
        self.ceph("osd", "pool", "create", name)
        self.ceph("osd", "pool", "application", "enable", name, "xiokv")
        self.rados("ls", pool=name)
        return name

    def delete_pool(self, name: str) -> None:
        """Delete a pool with all objects in it."""
        self.ceph("osd", "pool", "delete", name, name, "--yes-i-really-really-mean-it")

    def make_user(self, name: str, **caps: str) -> Path:
        """Make the user client.NAME, and return the path of its keyring.

        It lies where ceph.conf has clients look for it: `user=NAME` is enough.

        Args:
            name: without `client.`.
            caps: by service: `mon="allow r", osd="allow rw pool=xiokv namespace=tenant"`.
        """
        keyring = self.folder / f"client.{name}.keyring"
        words = [word for pair in caps.items() for word in pair]
        self.ceph("auth", "get-or-create", f"client.{name}", *words, "--out-file", str(keyring))
        return keyring

    def clients(self, user: str = "admin") -> list[str]:
        """Return the addresses of the clients of a user, as `blocklist` takes them."""
        return [
            f"{address['addr']}/{address['nonce']}"
            for session in self.asked("mon", "sessions")
            if session["entity_name"] == f"client.{user}" and session["open"]
            for address in session["addrs"]["addrvec"]
        ]

    def blocklist(self, address: str) -> None:
        """Refuse all requests of a client from now on; its address is one of `clients`."""
        self.ceph("osd", "blocklist", "add", address)

    # Harm, and its end.

    def stop_osd(self) -> None:
        """Stop the OSD in order; the cluster knows at once that it is down."""
        script("stop", "osd", "--dir", self.folder)

    def kill_osd(self) -> None:
        """Kill the OSD; the cluster takes it for down after 20 seconds."""
        script("kill", "osd", "--dir", self.folder)
        self._is_lost = self.store == "memstore"

    def start_osd(self) -> None:
        """Start the OSD, and wait until it serves."""
        script("start", "osd", "--dir", self.folder)

    def stop_mon(self) -> None:
        """Stop the monitor in order."""
        script("stop", "mon", "--dir", self.folder)

    def kill_mon(self) -> None:
        """Kill the monitor."""
        script("kill", "mon", "--dir", self.folder)

    def start_mon(self) -> None:
        """Start the monitor, and wait until it leads."""
        script("start", "mon", "--dir", self.folder)

    @contextmanager
    def paused(self, daemon: str) -> Iterator[None]:
        """Let a daemon, "mon" or "osd", do nothing, its connections open, within a `with`.

        It may be ended meanwhile.
        """
        pid = self.pid(daemon)
        os.kill(pid, signal.SIGSTOP)
        try:
            self._wait(f"the {daemon} does not stop", lambda: _is_stopped(pid), every=0.002)
            yield
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def pid(self, daemon: str) -> int:
        """Return the process of a daemon, "mon" or "osd"."""
        return int((self.folder / f"{daemon}.pid").read_text(encoding="ascii"))

    def set_full(self) -> None:
        """Make all pools full: what is stored is above the ratio at which an OSD is full."""
        for name in _RATIOS:
            self.ceph("osd", f"set-{name}-ratio", str(_TINY))
        self._wait("the pools are not full", lambda: all(self._full_pools()))

    def clear_full(self) -> None:
        """End what `set_full` began."""
        for name, ratio in reversed(_RATIOS.items()):
            self.ceph("osd", f"set-{name}-ratio", str(ratio))
        self._wait("the pools are still full", lambda: not any(self._full_pools()))

    def _full_pools(self) -> list[bool]:
        return ["full" in pool["flags_names"].split(",") for pool in self.osdmap()["pools"]]

    def mend(self) -> None:
        """Undo what a test did: both daemons run, nothing is full, the pool is there.

        What can't be mended is made anew, empty, in the same folder.
        """
        try:
            self._mend()
        except CephError:
            self._is_lost = True
        if self._is_lost:
            script("stop", "--dir", self.folder)
            self._start()

    def _mend(self) -> None:
        if self._is_lost:
            return
        script("start", "--dir", self.folder)
        osdmap = self.osdmap()
        if self.pool not in [pool["pool_name"] for pool in osdmap["pools"]]:
            self.make_pool(self.pool)
        if osdmap["full_ratio"] < _RATIOS["full"] / 2:
            self.clear_full()
        for address in osdmap["blocklist"]:
            self.ceph("osd", "blocklist", "rm", address)
        self.rados("ls")

    def _wait(self, complaint: str, condition: Callable[[], bool], every: float = 0.2) -> None:
        end = time.monotonic() + 30
        while not condition():
            if time.monotonic() > end:
                raise CephError(["ceph"], 1, complaint)
            time.sleep(every)


def _is_stopped(pid: int) -> bool:
    """Tell whether a signal to stop has reached all threads; on a busy machine that takes time."""
    try:
        stats = [path.read_text("utf-8") for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:  # a thread has ended meanwhile
        return False
    return all(stat.rpartition(") ")[2].startswith("T") for stat in stats)
