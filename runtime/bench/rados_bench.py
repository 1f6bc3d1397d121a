"""`rados bench`, the program of Ceph that measures a pool: place and load in, what it took out.

Objects are written once each and read in their order, as the other side does it. They are read
twice: as the program does it by default, which looks at every byte, as whoever wants the values
does; and unlooked at. Writes give no hints to the store, which only this side would do.
"""

from __future__ import annotations

import json
import resource
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from xiokv.runtime.errors import MissingFault, RuntimeFault
from xiokv.runtime.leftovers import PATIENCE, cleared, named_place
from xiokv.runtime.rados import RadosUrl, by_hand
from xiokv.runtime.rados.by_hand import PROGRAM

#: A run takes some seconds; one that takes so long stands still.
_MOST_SECONDS = 120
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
        writing = self._start("write", name, self._writes(count))
        objects = _Objects(self.place, name, writing.process.pid, count)
        with cleared(objects, named_place(self.place, *objects.beginnings)):
            written = self._taken(writing, count)
            read = self._read(name, count)
            yield written, read, self._read(name, count, "--no-verify")
            words = ("cleanup", "--run-name", name, "-t", str(self.in_flight))
            _output([*by_hand.words(self.place), *words])

    def setup(self) -> tuple[float, ...]:
        """Return the processor time of the same with one object."""
        with replace(self, in_flight=1).objects(1) as taken:
            return tuple(one.cpu for one in taken)

    def _writes(self, count: int) -> tuple[str, ...]:
        size = str(self.size)
        return ("-b", size, "-O", size, "--max-objects", str(count), "--no-cleanup", "--no-hints")

    def _read(self, name: str, count: int, *more: str) -> Taken:
        return self._taken(self._start("seq", name, more), count)

    def _start(self, mode: str, name: str, more: Sequence[str]) -> _Started:
        command = [*by_hand.words(self.place), "bench", str(_MOST_SECONDS), mode]
        options = ("--run-name", name, "-t", str(self.in_flight), *more, "--format", "json")
        return _Started(mode, _children_cpu(), _start([*command, *options]))

    def _taken(self, started: _Started, count: int) -> Taken:
        told = _finish(started.process)
        return Taken(seconds(told, started.mode, count), _children_cpu() - started.cpu)


@dataclass(frozen=True, slots=True)
class _Started:
    """The program at work.

    Attributes:
        mode: "write" or "seq".
        cpu: seconds of processor time of all children before it.
        process: its own.
    """

    mode: str
    cpu: float
    process: subprocess.Popen[str]


@dataclass(slots=True)
class _Objects:
    """What the program writes in a run: see `leftovers.Stored`.

    Attributes:
        place: where.
        name: of the run, and of an object that says what was written.
        writer: the process that writes the others.
        count: how many these are.
    """

    place: RadosUrl
    name: str
    writer: int
    count: int

    @property
    def beginnings(self) -> tuple[str, str]:
        """How the names of the objects begin."""
        return f"benchmark_data_{socket.gethostname()}_{self.writer}_object", self.name

    @property
    def left(self) -> int:
        """How many may be there, at most."""
        return self.count + 1 if self.count else 0

    def clear(self, until: float) -> None:
        """Remove them: see `leftovers.Stored`."""
        program = by_hand.words(self.place)
        # Whether the store answers; the object need not be there.
        _answered([*program, "stat", self.name], PATIENCE)
        objects, _ = self.beginnings
        _answered([*program, "cleanup", "--prefix", objects], until - time.monotonic())
        _answered([*program, "rm", self.name], until - time.monotonic())
        self.count = 0


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


def _output(command: Sequence[str]) -> str:
    return _finish(_start(command))


def _start(command: Sequence[str]) -> subprocess.Popen[str]:
    """Start a program that ends with this process, however this one ends."""
    setpriv = shutil.which("setpriv")
    tied = [setpriv, "--pdeathsig", "KILL"] if setpriv else []
    return subprocess.Popen(
        [*tied, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish(process: subprocess.Popen[str]) -> str:
    """Return what a program prints; where the wait for it is cut off, kill it."""
    with process:
        try:
            out, err = process.communicate(timeout=_MOST_SECONDS + PATIENCE)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise RuntimeFault(
                f"{_words(process)}: no end after {error.timeout:.0f} s; see that the OSDs run"
                " (ceph status)"
            ) from error
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        said = " / ".join(err.strip().splitlines()[-_LINES:])
        raise RuntimeFault(f"{_words(process)}: exit {process.returncode}: {said}")
    return out


def _words(process: subprocess.Popen[str]) -> str:
    """Return the program's part of a command line."""
    words = list(map(str, process.args)) if isinstance(process.args, list) else []
    return " ".join(words[words.index(PROGRAM) :])


def _answered(command: Sequence[str], seconds: float) -> None:
    """Run a program, however it ends.

    Raises:
        RuntimeFault: it does not end in time.
    """
    with _start(command) as process:
        try:
            process.communicate(timeout=max(seconds, 0.0))
        except BaseException as error:
            process.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise RuntimeFault(f"{' '.join(command)}: no end after {seconds:.0f} s") from error
            raise


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
