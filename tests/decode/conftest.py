"""The tool as a function, in a folder without a project, and entries made by hand."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from xiokv.codegen import cli


@dataclass(frozen=True)
class Outcome:
    """What one run of the tool did."""

    code: int
    out: str
    err: str


@pytest.fixture
def decode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Return a function that runs ``xiokv-gen decode`` where no project is."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes | None = b"", project: Path | None = None) -> Outcome:
        stream = None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin))
        monkeypatch.setattr("sys.stdin", stream)
        capsys.readouterr()
        before = ["--project", str(project)] if project else []
        with pytest.raises(SystemExit) as stopped:
            cli.main([*before, "decode", *arguments])
        captured = capsys.readouterr()
        return Outcome(int(stopped.value.code or 0), captured.out, captured.err)

    return call


def sqe(**dwords: int) -> bytes:
    """Return an entry by its dwords, ``cdw0`` to ``cdw15``."""
    return struct.pack("<16I", *(dwords.get(f"cdw{n}", 0) for n in range(16)))


# Retrieve of "layer0/b" from NSID 1 by CID 5, 8 KiB, raw.
RETRIEVE = sqe(
    cdw0=0x0005_0002,
    cdw1=1,
    cdw2=int.from_bytes(b"laye", "little"),
    cdw3=int.from_bytes(b"r0/b", "little"),
    cdw6=0x1000,
    cdw8=0x2000,
    cdw10=8192,
    cdw11=0x0108,
)


def cqe(dw0: int = 0, *, sct: int = 0, sc: int = 0, dnr: int = 0, phase: int = 1) -> bytes:
    """Return a completion of CID 5 on submission queue 1."""
    return struct.pack("<IIHHHH", dw0, 0, 1, 1, 5, phase | sc << 1 | sct << 9 | dnr << 15)
