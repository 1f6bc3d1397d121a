"""A C compiler over upstream texts: bounded in time and memory, and nothing is ever run.

In: the texts and a body to put behind them. Out: the object file's bytes, or the fault.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 60
# A text may include a device or a macro that grows without end; 4 GiB, in KiB.
_LIMITED = 'ulimit -v 4194304; exec "$@"'
_FLAGS = ("-std=gnu11", "-w", "-O0", "-fno-lto", "-I", "stubs", "-I", "include", "-I", ".")
_STUBS = {
    "spdk/stdinc.h": "#include <stdint.h>\n#include <stddef.h>\n#include <stdbool.h>\n",
    "spdk/assert.h": "#define SPDK_STATIC_ASSERT(cond, msg) _Static_assert(cond, msg)\n",
    "spdk/nvme.h": "struct spdk_nvme_cpl;\n"
    "typedef void (*spdk_nvme_cmd_cb)(void *, const struct spdk_nvme_cpl *);\n",
}


@dataclass(frozen=True, slots=True)
class Translated:
    """What the compiler made: `fault` is its first error line, empty where there is none."""

    fault: str
    object: bytes = b""


class Translator:
    """A folder with the texts and stubs for what they include, and a compiler."""

    def __init__(self, folder: Path, compiler: str, texts: Mapping[str, str]) -> None:
        """Put the texts into `folder`, which is empty."""
        self._folder = folder
        self._compiler = compiler
        self._head = "".join(f'#include "{path}"\n' for path in [*_STUBS, *sorted(texts)])
        stubs = {f"stubs/{path}": text for path, text in _STUBS.items()}
        for path, text in {**stubs, **texts}.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def translate(self, body: str) -> Translated:
        """Compile the texts with `body` behind them."""
        (self._folder / "probe.c").write_text(self._head + body, encoding="utf-8")
        made = self._folder / "probe.o"
        made.unlink(missing_ok=True)
        fault = self._fault([self._compiler, *_FLAGS, "-c", "-o", made.name, "probe.c"])
        return Translated(fault, made.read_bytes() if made.is_file() else b"")

    def _fault(self, command: Sequence[str]) -> str:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _LIMITED, "sh", *command],
            cwd=self._folder,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            _, said = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the driver and what it has started
            process.communicate()
            return f"not done after {_SECONDS} s"
        if process.returncode == 0:
            return ""
        lines = [line for line in said.splitlines() if "error" in line]
        return lines[0] if lines else f"exit status {process.returncode}"
