"""The twin as a module: self-contained, typed, safe against hostile texts, with NumPy or not."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy
import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.render.python import twin as render_twin
from xiokv.codegen.semantics.exec import ExecRules, load_exec
from xiokv.codegen.spec.model import SemanticField


def test_it_imports_nothing_but_the_standard_library(make_spec) -> None:
    tree = ast.parse(render_twin(make_spec()))
    top = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    names = [a.name for n in top if isinstance(n, ast.Import) for a in n.names]
    names += [n.module or "" for n in top if isinstance(n, ast.ImportFrom)]
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_it_works_where_neither_numpy_nor_xiokv_is_installed(make_spec, tmp_path: Path) -> None:
    (tmp_path / "kv.py").write_text(render_twin(make_spec()), encoding="utf-8")
    code = "import kv; print(len(kv.encode('list', nsid=1, key=b'')))"
    isolated = [sys.executable, "-S", "-c", code]  # -S: no site-packages
    done = subprocess.run(isolated, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("64\n", "")


def test_every_public_name_is_there(twin: ModuleType) -> None:
    assert [name for name in twin.__all__ if not hasattr(twin, name)] == []
    assert len(set(twin.__all__)) == len(twin.__all__)


def test_the_enums_are_numbers_with_names(twin: ModuleType) -> None:
    assert twin.Opcode.RETRIEVE == 2
    assert twin.Status(0x87).name == "KEY_DOES_NOT_EXIST"
    assert twin.StatusType.PATH == 3
    assert twin.Csi.KV == 1
    assert twin.StoreOption.DONT_STORE_IF_KEY_EXISTS | twin.StoreOption.DONT_COMPRESS == 6
    assert twin.RetrieveOption.RAW == 1


def test_hashes_and_limits_are_stated(twin: ModuleType, make_spec) -> None:
    spec = make_spec()
    assert spec.identity.spec == twin.SPEC_SHA256
    assert spec.identity.facts == twin.FACTS_SHA256
    assert spec.provenance.commit == twin.UPSTREAM_COMMIT
    assert (twin.KEY_MIN_LEN, twin.KEY_MAX_LEN) == (1, 16)


@pytest.mark.parametrize(
    ("record", "member", "format_", "offset"),
    [
        ("xiokv_cpl", "cdw0", "<u4", 0),
        ("xiokv_cpl", "cid", "<u2", 12),
        ("xiokv_cpl", "status", "<u2", 14),
        ("xiokv_cmd", "nsid", "<u4", 4),
        ("xiokv_cmd", "dptr.prp.prp2", "<u8", 32),
        ("xiokv_ns_data", "nuse", "<u8", 16),
        ("xiokv_ns_data", "kvfc", "|u1", 29),
        ("xiokv_format", "kvvml", "<u4", 4),
    ],
)
def test_dtypes(twin: ModuleType, record: str, member: str, format_: str, offset: int) -> None:
    found = twin.dtype(record)
    assert found.fields[member] == (numpy.dtype(format_), offset)


def test_dtypes_are_as_large_as_the_records(twin: ModuleType) -> None:
    sizes = {name: twin.dtype(name).itemsize for name in ("xiokv_cmd", "xiokv_cpl")}
    assert sizes == {"xiokv_cmd": 64, "xiokv_cpl": 16}


def test_a_batch_of_completions_is_read_by_dtype(twin: ModuleType) -> None:
    entries = bytes.fromhex("01000000 00000000 0100 0200 3412 0000") * 3
    batch = numpy.frombuffer(entries, dtype=twin.dtype("xiokv_cpl"))
    assert batch["cid"].tolist() == [0x1234] * 3


def test_a_dtype_of_no_record_is_refused(twin: ModuleType) -> None:
    with pytest.raises(ValueError, match="no record 'xiokv_x'; there are xiokv_afo"):
        twin.dtype("xiokv_x")


@pytest.mark.slow
@pytest.mark.parametrize("vendor", [None, load_exec()], ids=["plain", "exec"])
def test_it_is_typed(make_spec, tmp_path: Path, vendor: ExecRules | None) -> None:
    path = tmp_path / "kv.py"
    field = SemanticField("layer", 12, Bits(15, 4), "batch", ("store",), "index", "Layer.")
    path.write_text(render_twin(make_spec(field, vendor=vendor)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
