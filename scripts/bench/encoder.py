"""The generated encoders beside hand-written ones, by two compilers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from samples import Row, Samples, row

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "generated" / "include"
COMPILERS = {"gcc": ("gcc",), "clang": ("clang-19", "clang")}
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")

# Which hand-written encoder does the same work as which generated one.
BESIDE = {"raw": "hand_padded", "packed": "hand_padded", "checked": "hand_bytes"}


def measure(tiny: bool) -> list[Row]:
    """Return nanoseconds an SQE of each encoder."""
    found: list[Row] = []
    for compiler, names in COMPILERS.items():
        path = next((place for name in names if (place := shutil.which(name))), None)
        if path is None:
            print(f"no {compiler} here: its encoders are left out", file=sys.stderr)
            continue
        found += _rows(compiler, _samples(path, tiny))
    return found


def _samples(compiler: str, tiny: bool) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "encoder"
        source = HERE / "encoder.c"
        subprocess.run([compiler, *FLAGS, f"-I{INCLUDE}", source, "-o", program], check=True)
        passes, samples = ("1", "1") if tiny else ("500", "41")
        done = subprocess.run([program, passes, samples], check=True, stdout=subprocess.PIPE)
    taken: Samples = json.loads(done.stdout)
    return taken


def _rows(compiler: str, samples: Samples) -> list[Row]:
    return [
        row(
            f"{compiler} {name}",
            "ns/SQE",
            taken,
            (f"{compiler} {BESIDE[name]}", samples[BESIDE[name]]) if name in BESIDE else None,
        )
        for name, taken in samples.items()
    ]
