"""Compilers, and programs that they built, run for a test: words in, what was printed out."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


def needs(program: str) -> str:
    """Return a program's name; skip where it is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return program


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that has to succeed."""
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def sanitised(folder: Path, sanitiser: str, *words: str | Path) -> Path:
    """Return a program, built with a sanitiser; skip where g++ has no runtime for it.

    Args:
        folder: where it goes.
        sanitiser: as -fsanitize takes it.
        words: what else g++ is given: units, flags and libraries.
    """
    sanitise = f"-fsanitize={sanitiser}"
    probe, program = folder / "probe.cpp", folder / "hammer"
    probe.write_text("int main() {}\n", encoding="utf-8")
    command = [needs("g++"), sanitise, probe, "-o", folder / "probe"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"this g++ has no runtime for {sanitise}")
    flags = ("-std=c++17", "-g", sanitise, "-fno-sanitize-recover=all", "-pthread")
    run("g++", *flags, *words, "-o", program)
    return program
