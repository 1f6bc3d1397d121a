"""What needs no network, compiler, git or home folder works without them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# A socket or another program is a fault; what is left is the tool itself.
ALONE = """
import os, sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.exec"):
        os.write(2, f"asked for {event} {arguments}".encode())
        os._exit(9)
sys.addaudithook(refuse)
from xiokv.codegen.cli import main
main()
"""


@pytest.mark.parametrize(
    "command",
    ["fetch", "build --emit-only", "build", "check", "show store", "--version", "build --help"],
)
def test_a_command_needs_nothing_but_itself(built: Path, command: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ALONE, *command.split()],
        cwd=built,
        env={"PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
