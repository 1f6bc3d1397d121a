"""The names of `xiokv.runtime` are there, and cost nothing until they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from xiokv import runtime


@pytest.mark.parametrize("name", runtime.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(runtime, name).__name__ == name
    assert name in dir(runtime)


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = runtime.nothing


def test_what_only_compiles_does_not_import_numpy() -> None:
    code = "import sys, xiokv.runtime.toolchain; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
