"""The site of the reference, built once, and the extension that its pages use."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
NEEDED = ("sphinx", "myst_parser", "breathe")

sys.path.insert(0, str(REFERENCE / "_ext"))


@dataclass(frozen=True)
class Site:
    """A built site: its folder, and what the build said."""

    folder: Path
    code: int
    said: str

    def names(self, domain: str) -> dict[str, str]:
        """Return the page of every name of a domain, as the site's inventory lists them."""
        data = (self.folder / "objects.inv").read_bytes()
        lines = zlib.decompress(data.split(b"\n", 4)[4]).decode().splitlines()
        entries = [line.split(" ", 4) for line in lines]
        return {name: place for name, kind, _, place, _ in entries if kind.startswith(domain)}


def build(out: Path, *options: str, source: Path = ROOT) -> Site:
    """Build a site as scripts/docs.sh does, warnings being errors."""
    for name in NEEDED:
        pytest.importorskip(name, reason=f"no {name}: pip install '.[docs]', Python 3.11")
    if shutil.which("doxygen") is None:
        pytest.skip("doxygen is not installed")
    strict = ("--fail-on-warning", "--keep-going", "--nitpicky")
    places = ("-c", source / "docs" / "reference", "-d", out / "doctrees", source, out / "site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *strict, *options, *map(str, places)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return Site(out / "site", done.returncode, done.stdout)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return the site of this checkout."""
    return build(tmp_path_factory.mktemp("reference"))
