"""What documents and messages say alike: exit codes, and what to install."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from xiokv.runtime.errors import ExitCode

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def test_every_exit_code_of_the_runtime_is_in_its_table() -> None:
    text = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    table = text.partition("| code | of `xiokv` |\n|---|---|\n")[2].partition("\n\n")[0]
    assert [int(code) for code in re.findall(r"^\| (\d) \|", table, re.MULTILINE)] == list(ExitCode)


@pytest.mark.parametrize(
    ("extra", "page", "message"),
    [
        ("hip", "run-on-a-gpu.md", "drivers/hip_library.py"),
        ("cuda", "run-on-a-gpu.md", "drivers/cuda_library.py"),
        ("plot", "benchmarks.md", "bench/plot.py"),
    ],
)
def test_an_extra_its_page_and_its_message_name_one_requirement(
    extra: str, page: str, message: str
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (requirement,) = project["optional-dependencies"][extra]
    for path in (ROOT / "docs" / page, ROOT / "runtime" / message):
        assert f"pip install '{requirement}'" in path.read_text(encoding="utf-8")
