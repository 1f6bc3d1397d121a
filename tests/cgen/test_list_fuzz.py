"""The List decoder never reads past a page, whatever the page holds."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("fuzz_list.c")


def test_random_pages_are_walked_within_their_bounds(
    compiler: Any, include: Path, tmp_path: Path
) -> None:
    program = tmp_path / "fuzz"
    sanitizers = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    compiler.build(include, "-O1", "-g", *sanitizers, SOURCE, "-o", program)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20_000  # the pages are good enough to walk
