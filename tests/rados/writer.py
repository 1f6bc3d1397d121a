"""A program that stores over a cluster until it is killed, and keeps a journal.

Usage: writer.py MODULE URL JOURNAL ROUND. A batch gives a third of the keys other values,
whose sizes change; what they are follows from the key, the round and the batch. After each,
some are deleted.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from acknowledged import Change, Journal

from xiokv import runtime
from xiokv.runtime import Outcome, Result

KEYS = [b"written-%04d" % number for number in range(300)]


def value(key: bytes, generation: str) -> bytes:
    """Return the value of a key in a generation: 8 to 40 KB."""
    seed = hashlib.sha256(key + generation.encode()).digest()
    size = 8_000 + int.from_bytes(seed[:2], "little") // 2
    return hashlib.shake_128(seed).digest(size)


def done(changes: Iterable[Change], result: Result) -> list[Change]:
    """Return the changes that were acknowledged."""
    good = result.status == Outcome.OK
    return [change for change, ok in zip(changes, good, strict=True) if ok]


def main(module: str, url: str, path: str, turn: str) -> None:
    """Store until the end of this process."""
    journal = Journal(Path(path))
    with (
        runtime.Emulator(store=url) as controller,
        runtime.load(module=module).attach(controller, queues=2, depth=64) as kv,
    ):
        for number in count():
            changes = [(key, value(key, f"{turn}/{number}")) for key in KEYS[number % 3 :: 3]]
            journal.intend(changes)
            result = kv.store([key for key, _ in changes], [value for _, value in changes])
            journal.acknowledge(done(changes, result))

            deletes = [(key, None) for key, _ in changes[::5]]
            journal.intend(deletes)
            result = kv.delete([key for key, _ in deletes])
            journal.acknowledge(done(deletes, result))


if __name__ == "__main__":
    main(*sys.argv[1:])
