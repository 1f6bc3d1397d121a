"""Profiles in a project: a packaged one by name, and none where none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from xiokv.codegen.semantics import profiles

from .conftest import Run


def texts(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def use(project: Path, profile: str) -> None:
    with (project / "xiokv.toml").open("a") as config:
        config.write(f'[semantics]\nprofile = "{profile}"\n')


def test_a_packaged_profile_is_taken_by_its_name(fetched: Path, run: Run) -> None:
    use(fetched, "kv_cache")
    assert run("build", "--emit-only").code == 0
    assert b"xiokv_get_generation(" in texts(fetched / "generated")["include/xiokv/kv_commands.h"]
    assert run("check").code == 0


def test_another_name_is_refused_with_those_that_there_are(fetched: Path, run: Run) -> None:
    use(fetched, "kv_cash")
    outcome = run("build")
    assert outcome.code == 2
    assert "there is no file 'kv_cash'; write the path of a profile, or one of" in outcome.err


@pytest.mark.parametrize("name", ["", ".", "generated"])
def test_a_folder_in_the_place_of_a_profile_is_named(fetched: Path, run: Run, name: str) -> None:
    use(fetched, name)
    outcome = run("build")
    assert outcome.code == 2
    assert f"xiokv.toml: profile: there is no file '{name or '.'}'; write the path" in outcome.err


def test_the_output_without_a_profile_does_not_depend_on_others(
    built: Path, run: Run, tmp_path: Path, monkeypatch
) -> None:
    """Whether xiokv brings other profiles along or the project holds some, no byte changes."""
    before = texts(built / "generated")
    alone = tmp_path / "profiles"
    alone.mkdir()
    default = Path(profiles.__file__).with_name("profiles") / "default.toml"
    (alone / "default.toml").write_bytes(default.read_bytes())
    monkeypatch.setattr(profiles, "_FOLDER", alone)
    assert profiles.packaged() == ("default",)
    (built / "mine.toml").write_text("no profile at all", encoding="utf-8")
    assert run("build", "--emit-only").code == 0
    assert texts(built / "generated") == before
