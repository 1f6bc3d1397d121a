"""`rados bench`, the program of Ceph that measures a pool: place and load in, what it took out.

Objects are written once each and read in their order, as the other side does it. They are read
twice: as the program does it by default, which looks at every byte, as whoever wants the values
does; and unlooked at. Writes give no hints to the store, which only this side would do.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from xiokv.runtime.errors import MissingFault, RuntimeFault
from xiokv.runtime.rados import RadosUrl

PROGRAM = "rados"

_MOST_SECONDS = 600
_LINES = 3


@dataclass(frozen=True, slots=True)
class Taken:
    """What some operations took.

    Attributes:
        seconds: from the first to the last.
        cpu: seconds of processor time of the client.
    """

    seconds: float
    cpu: float


def version() -> str:
    """Return the program's version.

    Raises:
        MissingFault: it is not here.
    """
    if shutil.which(PROGRAM) is None:
        raise MissingFault(
            f"the program {PROGRAM} is not here, whose bench is what a store on Ceph is measured"
            " beside; install ceph-common (Debian, Ubuntu, Fedora, RHEL, openSUSE)"
        )
    return _output([PROGRAM, "--version"]).strip()


@dataclass(frozen=True, slots=True)
class RadosBench:
    """Runs the program on one pool and namespace.

    Attributes:
        place: the pool, the namespace, and how to come there.
        size: bytes of an object.
        in_flight: operations under way at a time.
    """

    place: RadosUrl
    size: int
    in_flight: int

    @contextmanager
    def objects(self, count: int) -> Iterator[tuple[Taken, Taken, Taken]]:
        """Write objects, read them, and read them unverified; remove the objects at the end."""
        name = f"xiokv-{uuid.uuid4().hex}"
        try:
            written, read = self._write(name, count), self._read(name, count)
            yield written, read, self._read(name, count, "--no-verify")
        finally:
            _output([*_words(self.place), "cleanup", "--run-name", name, "-t", str(self.in_flight)])

    def setup(self) -> tuple[float, ...]:
        """Return the processor time of the same with one object."""
        with replace(self, in_flight=1).objects(1) as taken:
            return tuple(one.cpu for one in taken)

    def _write(self, name: str, count: int) -> Taken:
        size = str(self.size)
        kind = ("-b", size, "-O", size, "--max-objects", str(count), "--no-cleanup", "--no-hints")
        return self._run("write", name, kind, count)

    def _read(self, name: str, count: int, *more: str) -> Taken:
        return self._run("seq", name, more, count)

    def _run(self, mode: str, name: str, more: Sequence[str], count: int) -> Taken:
        command = [*_words(self.place), "bench", str(_MOST_SECONDS), mode, "--run-name", name]
        options = ("-t", str(self.in_flight), *more, "--format", "json")
        before = _children_cpu()
        told = _output([*command, *options])
        cpu = _children_cpu() - before
        return Taken(seconds(told, mode, count), cpu)


def seconds(told: str, mode: str, count: int) -> float:
    """Return the seconds that the program's JSON tells.

    Args:
        told: its output; lines before the object are left out.
        mode: "write" or "seq".
        count: operations that it has to tell of.

    Raises:
        RuntimeFault: it is no such output, or is of fewer or more operations.
    """
    made = "total_writes_made" if mode == "write" else "total_reads_made"
    try:
        figures: Any = json.loads(told[told.index("{") :])
        found, took = int(figures[made]), float(figures["total_time_run"])
    except (ValueError, KeyError, TypeError) as error:
        raise RuntimeFault(
            f"{PROGRAM} bench {mode} printed no JSON with {made} and total_time_run, but:"
            f" {told.strip()[:200]!r}"
        ) from error
    if found != count or took <= 0:
        raise RuntimeFault(
            f"{PROGRAM} bench {mode} made {found} operations in {took:g} s; {count} were wanted"
        )
    return took


def _words(place: RadosUrl) -> list[str]:
    given = {
        "--conf": place.conf,
        "--keyring": place.keyring,
        "--cluster": place.cluster if place.cluster != "ceph" else "",
        "--namespace": place.name_space,
    }
    options = [word for name, value in given.items() if value for word in (name, value)]
    return [PROGRAM, "--name", place.entity, "--pool", place.pool, *options]


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " / ".join(done.stderr.strip().splitlines()[-_LINES:])
        raise RuntimeFault(f"{' '.join(command)}: exit {done.returncode}: {said}")
    return done.stdout


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
