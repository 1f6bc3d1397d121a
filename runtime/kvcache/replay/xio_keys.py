"""Keys for rocm-xio's tester: a replay's reports in; files and a command line out.

Its Key-Value mode takes keys as arguments, ``--keys``, and packs them for its kernel: four
words with the key and one with its length. It has no option for a file. So the keys are
written twice: packed, for programs that use that layout, and with a NUL after each, for
``xargs -0``. A key with a NUL cannot be an argument, and one that looks like an option or a
list would be taken for one; such are left out of the second file.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.parts import split
from xiokv.runtime.kvcache.report import Report
from xiokv.runtime.kvcache.storage import Fetch
from xiokv.runtime.kvcache.wanted import wanted_blocks
from xiokv.runtime.output_files import is_regular, output_file

WORDS_PER_KEY = 5
#: Most commands that the tester has in flight on a queue of 1024 entries.
KEYS_MAX = 1023

_PACKED = np.dtype([("key", "u1", 16), ("length", "<u4")])
_NAMESPACE = re.compile(r"^/dev/ng(\d+)n(\d+)$")


@dataclass(slots=True)
class XioKeys:
    """The first keys that a replay retrieved, all of values of one size.

    Attributes:
        size: bytes of each value; 0 while there is none.
        keys: as they were first asked for, each once.
        left_out: keys of values of another size, or beyond the most.
    """

    size: int = 0
    keys: dict[bytes, None] = field(default_factory=dict)
    left_out: int = 0

    def add(self, report: Report) -> None:
        """Take the keys that a report asked for."""
        for span in report.spans:
            if span.fetch is not None:
                self._add(span.fetch)

    def _add(self, fetch: Fetch) -> None:
        donor = fetch.lease.donor
        digests, sizes = donor.table.digests[fetch.blocks], donor.table.sizes[fetch.blocks]
        parts = split(wanted_blocks(digests, sizes, None, donor.manifest.part_bytes))
        for key, size in zip(map(bytes, parts.keys), parts.sizes.tolist(), strict=True):
            self.size = self.size or size
            if key in self.keys:
                continue
            if size == self.size and len(self.keys) < KEYS_MAX:
                self.keys[key] = None
            else:
                self.left_out += 1

    def write(self, path: Path, device: str | None = None) -> Written:
        """Write both files, ``PATH`` and ``PATH.args``; both are whole, or as they were.

        Where ``PATH`` is no regular file there is nothing beside it.

        Raises:
            RuntimeFault: no key was asked for.
            OSError: a file cannot be written.
        """
        if not self.keys:
            raise RuntimeFault(f"{path} is not written: no block was asked for")
        arguments = [key for key in self.keys if _can_be_argument(key)]
        second = arguments_file(path)
        with ExitStack() as stack:
            files = [stack.enter_context(output_file(path))]
            files[0].write(packed(list(self.keys)))
            if second is not None:
                files.append(stack.enter_context(output_file(second)))
                files[1].write(b"".join(key + b"\0" for key in arguments))
            for file in files:
                file.complete()
        return Written(path, second, len(self.keys), len(arguments), self.size, device)


def arguments_file(path: Path) -> Path | None:
    """Return the second file beside a first; None where that is no regular file."""
    return path.with_name(f"{path.name}.args") if is_regular(path) else None


@dataclass(frozen=True, slots=True)
class Written:
    """Files of keys.

    Attributes:
        packed: five words a key.
        arguments: a NUL after each; None where the first is no regular file.
        keys: in the first.
        usable: in the second.
        size: bytes of each value.
        device: the namespace that the values are on, or None.
    """

    packed: Path
    arguments: Path | None
    keys: int
    usable: int
    size: int
    device: str | None

    def command(self, operation: str = "retrieve") -> str:
        """Return the command line for rocm-xio's tester: ``store`` or ``retrieve``."""
        found = _NAMESPACE.match(self.device or "")
        controller = f"/dev/nvme{found[1]}" if found else "/dev/nvme0"
        words = [
            *("xargs", "-0", "-x", "-a", str(self.arguments)),
            *("xio-tester", "nvme-ep", "--controller", controller),
            *("--namespace", found[2] if found else "1", "--kv-op", operation),
            *("--value-size", self.size, "--batch-size", self.usable),
            *("--data-buffer-size", self.size * self.usable),
            *("--read-io" if operation == "retrieve" else "--write-io", 1, "--keys"),
        ]
        return shlex.join(map(str, words))


def packed(keys: Sequence[bytes]) -> bytes:
    """Return keys of 1 to 16 bytes in the packed layout, its words in little-endian order."""
    records = np.zeros(len(keys), _PACKED)
    for record, key in zip(records, keys, strict=True):
        record["key"][: len(key)] = np.frombuffer(key, np.uint8)
        record["length"] = len(key)
    return records.tobytes()


def _can_be_argument(key: bytes) -> bool:
    return b"\0" not in key and key[:1] not in (b"-", b"[", b"{")
