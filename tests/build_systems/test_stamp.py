"""--stamp: the rule of Make beside it names what was read, in a form that Make reads."""

from __future__ import annotations

from pathlib import Path

from .conftest import Run, need, run, well


def test_make_runs_again_what_read_a_changed_file(built: Path, gen: Run, tmp_path: Path) -> None:
    need("make")
    folder = tmp_path / "a $b #c"
    folder.mkdir()
    stamp = folder / "the stamp"
    assert gen("check", "--stamp", stamp).code == 0
    rule = stamp.with_name("the stamp.d").read_text(encoding="utf-8")
    makefile = tmp_path / "Makefile"
    makefile.write_text(rule + "%stamp:\n\techo again\n", encoding="utf-8")
    asked = ("make", "-q", "-f", makefile)
    assert run(*asked).code == 0
    (built / "generated/nvme_kv.py").touch()
    assert run(*asked).code == 1


def test_a_stale_project_gets_no_stamp(built: Path, gen: Run, tmp_path: Path) -> None:
    (built / "generated/nvme_kv.py").unlink()
    assert gen("check", "--stamp", tmp_path / "stamp").code == 3
    assert list(tmp_path.glob("stamp*")) == []


def test_a_build_with_a_stamp_depends_on_the_profile(built: Path, gen: Run, tmp_path: Path) -> None:
    (built / "mine.toml").write_text('schema = 1\nname = "mine"\n', encoding="utf-8")
    with (built / "xiokv.toml").open("a", encoding="utf-8") as config:
        config.write('[semantics]\nprofile = "mine.toml"\n')
    stamp = tmp_path / "stamp"
    well("xiokv-gen", "--project", built, "build", "--emit-only", "--stamp", stamp)
    read = stamp.with_name("stamp.d").read_text(encoding="utf-8").split(" \\\n  ")
    names = ["xiokv.toml", "xiokv.lock", "generated/spec/nvme_kv.json", "mine.toml"]
    assert read == [
        f"{stamp}:",
        *(str(built / name) for name in names[:-1]),
        f"{built}/mine.toml\n",
    ]
