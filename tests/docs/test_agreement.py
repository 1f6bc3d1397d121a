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
TEXTS = (".md", ".py", ".sh", ".toml", ".yml", ".yaml", ".j2", ".cmake", ".cpp", ".h")


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


# On an index the name is anybody's: what installs xiokv names a place.
NAMED = re.compile(r"pip install (?:-\S+ )*[\"']?xiokv\b(?![/-])")


def test_nothing_tells_to_install_xiokv_by_its_name_alone() -> None:
    told = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for folder in ("codegen", "runtime", "templates", "scripts", "docs", "README.md")
        for path in ([ROOT / folder] if (ROOT / folder).is_file() else (ROOT / folder).rglob("*"))
        if path.suffix in TEXTS and path.is_file()
        for found in NAMED.finditer(path.read_text(encoding="utf-8"))
    ]
    assert told == []
