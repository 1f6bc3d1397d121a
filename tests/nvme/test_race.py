"""The passthrough controller under ThreadSanitizer and AddressSanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import native

HERE = Path(__file__).resolve().parent
UNITS = (*sorted((HERE.parents[1] / "runtime/nvme").glob("*.cpp")), HERE / "race.cpp")
SHARED = [HERE.parents[1] / f"runtime/emulator/{name}.cpp" for name in ("dma", "prp")]


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_hosts_that_come_and_go_get_every_completion(sanitizer: str, tmp_path: Path) -> None:
    if not native.is_there():
        pytest.skip("g++ is not installed: apt-get install g++")
    program = tmp_path / "race"
    flags = ["-std=c++17", "-O1", "-g1", "-pthread", f"-fsanitize={sanitizer}", "-Wall", "-Werror"]
    subprocess.run(["g++", *flags, *UNITS, *SHARED, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "4000 4000\n", "")
