"""cpp_namespace in xiokv.toml: which names are taken, and what they become."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.build_systems.conftest import run
from xiokv.codegen.config import load_config
from xiokv.codegen.errors import UsageError
from xiokv.codegen.naming import Names, check_namespace
from xiokv.codegen.semantics.words import C_WORDS

from .conftest import Make, Project

NAMES = {
    "": ("xiokv", "XIOKV_", "xiokv", "xiokv::xiokv"),
    "acme": ("acme", "ACME_", "xiokv-acme", "xiokv::acme"),
    "acme::kv": ("acme/kv", "ACME_KV_", "xiokv-acme-kv", "xiokv::acme-kv"),
    "Acme_2::xiokv::v1": (
        "Acme_2/xiokv/v1",
        "ACME_2_XIOKV_V1_",
        "xiokv-Acme_2-xiokv-v1",
        "xiokv::Acme_2-xiokv-v1",
    ),
}
REFUSED = {
    "": "names none; leave the key out",
    "::": "is no namespace: write names joined by '::', such as 'acme::kv'",
    "::acme": "is no namespace",
    "acme::": "is no namespace",
    "acme:kv": "is no namespace",
    "acme::::kv": "is no namespace",
    "acme.kv": "is no namespace",
    "acme-kv": "is no namespace",
    "acme kv": "is no namespace",
    "acme\n": "is no namespace",
    "_acme": "is no namespace",
    "acme::_kv": "is no namespace",
    "acme_": "is no namespace",
    "ac__me": "is no namespace",
    "1acme": "is no namespace",
    "ácme": "is no namespace",
    "\u0430": "is no namespace",  # a Cyrillic letter
    "a\u0663": "is no namespace",
    "../acme": "is no namespace",
    "/tmp": "is no namespace",
    "acme {} int x; namespace b": "is no namespace",
    "acme*/": "is no namespace",
    'acme"': "is no namespace",
    "acme\\": "is no namespace",
    "a\0b": "is no namespace",
    "${x}": "is no namespace",
    "inline": "'inline' is a keyword or a predefined macro of C or C++",
    "acme::namespace": "'namespace' is a keyword",
    "acme::int": "'int' is a keyword",
    "restrict": "'restrict' is a keyword",
    "linux::kv": "'linux' is a keyword or a predefined macro",
    "std": "'std' belongs to the C++ standard",
    "std2": "'std2' belongs to the C++ standard",
    "posix::kv": "'posix' belongs to the C++ standard",
    "xiokv": "what begins with 'xiokv' is for headers without a namespace",
    "xiokv::acme": "what begins with 'xiokv'",
    "XIOKV_mine": "what begins with 'xiokv'",
    "a" * 65: "is longer than 64 characters",
}


@pytest.mark.parametrize(("namespace", "expected"), NAMES.items())
def test_a_namespace_names_folder_macros_and_packages(
    namespace: str, expected: tuple[str, ...]
) -> None:
    names = Names(namespace)
    assert (names.folder, names.macros, names.package, names.target) == expected
    assert not namespace or check_namespace(namespace) is None


@pytest.mark.parametrize(("namespace", "said"), REFUSED.items(), ids=map(repr, REFUSED))
def test_a_bad_namespace_is_refused_with_what_is_allowed(namespace: str, said: str) -> None:
    fault = check_namespace(namespace)
    assert fault is not None
    assert fault.startswith(f"cpp_namespace = {namespace!r}")
    assert said in fault
    assert "\n" not in fault


@pytest.mark.parametrize("word", sorted(C_WORDS))
def test_no_word_of_c_or_cpp_is_a_namespace(word: str) -> None:
    assert check_namespace(word)
    assert check_namespace(f"acme::{word}")


@pytest.mark.parametrize("written", ['""', '"std::kv"', '"a\\nb"', "3", "['acme']"])
def test_the_command_line_names_the_line_and_writes_nothing(tmp_path: Path, written: str) -> None:
    (tmp_path / "xiokv.toml").write_text(f"[output]\ncpp_namespace = {written}\n")
    ran = run("xiokv-gen", "--project", tmp_path, "build")
    assert ran.code == 2
    assert re.search(r"xiokv\.toml:2: cpp_namespace ", ran.err)
    assert [path.name for path in tmp_path.iterdir()] == ["xiokv.toml"]


def test_the_key_is_near_to_what_one_would_write(tmp_path: Path) -> None:
    (tmp_path / "xiokv.toml").write_text('[output]\nnamespace = "acme"\n')
    with pytest.raises(UsageError, match=r"unknown key 'namespace'.*nearest is 'cpp_namespace'"):
        load_config(str(tmp_path))


def test_the_namespace_is_no_part_of_what_is_on_the_wire(acme: Project, make: Make) -> None:
    """Identities and twins of a project are the same with and without it."""
    other = make("", "kv_cache", has_exec=True)
    for name in ("kernels/kv_module.json", "nvme_kv.py"):
        assert (other.generated / name).read_bytes() == (acme.generated / name).read_bytes()


def test_another_namespace_makes_the_files_stale_and_build_takes_the_old_ones_away(
    project: Path,
) -> None:
    for command in ("fetch", "build"):
        assert run("xiokv-gen", "--project", project, command).code == 0
    with (project / "xiokv.toml").open("a") as config:
        config.write('cpp_namespace = "acme::kv"\n')
    stale = run("xiokv-gen", "--project", project, "check")
    assert stale.code == 3
    assert "generated/include/acme/kv/nvme_kv.h: missing" in stale.out
    assert "generated/include/xiokv/nvme_kv.h: extra" in stale.out
    assert run("xiokv-gen", "--project", project, "build").code == 0
    assert not list((project / "generated/include/xiokv").glob("**/*.h"))
    assert run("xiokv-gen", "--project", project, "check").code == 0
