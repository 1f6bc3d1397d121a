"""uninstall: the inverse of install, and nothing of anybody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import BIN, Run, run

LIST = "share/xiokv/installed-files.txt"


def _tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.fixture
def prefix(built: Path, gen: Run, tmp_path: Path) -> Path:
    """Return a prefix of other people's files into which the project is installed."""
    folder = tmp_path / "a prefix"
    (folder / "share/pkgconfig").mkdir(parents=True)
    (folder / "share/pkgconfig/other.pc").write_text("Name: other\n", encoding="utf-8")
    assert gen("install", "--prefix", folder).code == 0
    return folder


def test_what_install_wrote_is_taken_away_from_anywhere(prefix: Path, tmp_path: Path) -> None:
    installed = (prefix / LIST).read_text(encoding="utf-8").splitlines()[2:]
    ran = run(BIN / "xiokv-gen", "uninstall", "--prefix", prefix, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [f"removed {prefix / name}" for name in installed]
    assert _tree(prefix) == ["share", "share/pkgconfig", "share/pkgconfig/other.pc"]


def test_files_that_are_not_of_xiokv_stay(prefix: Path, gen: Run) -> None:
    (prefix / "include/xiokv/mine.h").write_text("int mine;\n", encoding="utf-8")
    (prefix / "include/xiokv/kv_list.h").write_text("int replaced;\n", encoding="utf-8")
    told = json.loads(gen("uninstall", "--prefix", prefix, "--json").out)
    assert told["prefix"] == str(prefix)
    assert "include/xiokv/kv_types.h" in told["removed"]
    left = [name for name in _tree(prefix) if (prefix / name).is_file()]
    mine = ["include/xiokv/kv_list.h", "include/xiokv/mine.h"]
    assert left == [*mine, "share/pkgconfig/other.pc"]


def _empty(prefix: Path) -> None:
    (prefix / LIST).unlink()


def _climbing(prefix: Path) -> None:
    head = (prefix / LIST).read_text(encoding="utf-8").splitlines()[0]
    (prefix / LIST).write_text(f"{head}\n../outside.txt\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        (_empty, 2, "xiokv-gen install put nothing there"),
        (_climbing, 1, "not a list that xiokv-gen install wrote"),
    ],
)
def test_without_a_list_of_its_own_nothing_is_touched(
    prefix: Path, gen: Run, spoil, code: int, said: str
) -> None:
    spoil(prefix)
    before = _tree(prefix)
    ran = gen("uninstall", "--prefix", prefix)
    assert (ran.code, said in ran.err) == (code, True), ran.err
    assert _tree(prefix) == before


def test_a_link_that_leads_out_of_the_prefix_is_not_followed(prefix: Path, gen: Run) -> None:
    outside = (prefix / "include").rename(prefix.parent / "outside")
    (prefix / "include").symlink_to(outside)
    gen("uninstall", "--prefix", prefix)
    assert (outside / "xiokv/kv_types.h").is_file()


def test_an_empty_prefix_is_refused(gen: Run) -> None:
    ran = gen("uninstall", "--prefix", "")
    assert (ran.code, "it is empty" in ran.err) == (2, True)


def test_of_several_packages_the_named_one_goes(prefix: Path, built: Path, gen: Run) -> None:
    config = built / "xiokv.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(f'{text}cpp_namespace = "acme"\n', encoding="utf-8")
    assert gen("install", "--prefix", prefix).code == 0
    ran = gen("uninstall", "--prefix", prefix)
    assert (ran.code, "holds xiokv, xiokv-acme; say which with --package" in ran.err) == (2, True)
    ran = gen("uninstall", "--prefix", prefix, "--package", "other")
    assert (ran.code, "has no package 'other'" in ran.err) == (2, True)
    assert gen("uninstall", "--prefix", prefix, "--package", "xiokv").code == 0
    assert not (prefix / LIST).exists()
    assert gen("uninstall", "--prefix", prefix).code == 0
    assert _tree(prefix) == ["share", "share/pkgconfig", "share/pkgconfig/other.pc"]
