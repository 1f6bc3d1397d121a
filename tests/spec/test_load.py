"""A spec comes only from a spec file that is the locked one."""

from __future__ import annotations

from pathlib import Path

import pytest

from xiokv.codegen.config import load_config
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.spec.load import load_spec
from xiokv.codegen.upstream.update import apply, prepare

IR = Path("generated/spec/nvme_kv.json")


@pytest.fixture
def fetched(project: Path) -> Path:
    """Return a project with the bundled spec in place."""
    config = load_config(str(project))
    apply(config, prepare(config, "bundled", None))
    return project


def _load(project: Path):
    return load_spec(load_config(str(project)))


def test_provenance_is_the_spec_files(fetched: Path) -> None:
    provenance = _load(fetched).provenance
    assert provenance.license == "BSD-3-Clause"
    assert len(provenance.commit) == 40


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"size": 64', '"size": 68', "its SHA-256 is"),
        ('"commit": "', '"commit": "0', "its commit is"),
        ('"repository": "', '"repository": "x', "its repository is"),
    ],
)
def test_an_edited_spec_file_is_refused(fetched: Path, old: str, new: str, message: str) -> None:
    path = fetched / IR
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(XiokvError) as caught:
        _load(fetched)
    assert message in str(caught.value)
    assert "run xiokv-gen fetch" in str(caught.value)


@pytest.mark.parametrize("name", ["xiokv.lock", str(IR)])
def test_what_fetch_makes_is_asked_for_where_it_is_missing(fetched: Path, name: str) -> None:
    (fetched / name).unlink()
    with pytest.raises(XiokvError, match=f"no {name}; run xiokv-gen fetch"):
        _load(fetched)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "generated/spec/nvme_kv.json: not UTF-8 text: "),
        (b"{", "generated/spec/nvme_kv.json"),
        (b"[]", "generated/spec/nvme_kv.json"),
        (b"[" * 100_000, "generated/spec/nvme_kv.json: nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "generated/spec/nvme_kv.json: error: "),
    ],
)
def test_a_broken_spec_file_is_named(fetched: Path, content: bytes, message: str) -> None:
    (fetched / IR).write_bytes(content)
    with pytest.raises(XiokvError) as caught:
        _load(fetched)
    assert str(caught.value).startswith(message)
    assert "or delete it and run xiokv-gen fetch" in str(caught.value)


def test_exec_is_loaded_only_where_it_is_asked_for(fetched: Path) -> None:
    assert "exec" not in [command.name for command in _load(fetched).commands]
    path = fetched / "xiokv.toml"
    path.write_text(path.read_text(encoding="utf-8") + "[semantics]\nexec = true\n")
    assert _load(fetched).command("exec").opcode == 0x83


def test_a_profile_is_read_below_the_project_and_shown_so(fetched: Path) -> None:
    (fetched / "my.toml").write_text('schema = 1\nname = "A"\n')
    path = fetched / "xiokv.toml"
    path.write_text(path.read_text(encoding="utf-8") + '[semantics]\nprofile = "my.toml"\n')
    with pytest.raises(XiokvError, match=r"^my\.toml:2: name 'A' is not allowed"):
        _load(fetched)
