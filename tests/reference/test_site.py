"""The site builds without a warning, and every public name has its place in it."""

from __future__ import annotations

import ast
import re
import shutil
from html.parser import HTMLParser
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest

from tests.build_systems.conftest import well
from xiokv import runtime
from xiokv.runtime import emulator, testing

from .conftest import ROOT, Site, build

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("reference")]

INCLUDE = ROOT / "generated" / "include"
PUBLIC = (
    "xiokv.h",
    *("xiokv/host_streams.h", "xiokv/kv_abi.h", "xiokv/kv_bits.h", "xiokv/kv_check.h"),
    *("xiokv/kv_commands.h", "xiokv/kv_list.h", "xiokv/kv_macros.h", "xiokv/kv_status.h"),
    *("xiokv/kv_types.h", "xiokv/nvme_kv.h"),
    *("xiokv_emulator.h", "xiokv_rados.h"),
)
DECLARED = re.compile(
    r"^ *#define (?P<macro>\w+)"
    r"|^(?:struct|union|enum)(?: XIOKV_ALIGNAS\(\d+\))? (?P<type>\w+) \{"
    r"|^  (?P<enumerator>XIOKV_[A-Z0-9_]+) = "
    r"|^[^/ #\n][^;=\n]*?\b(?P<function>xiokv_\w+)\(",
    re.MULTILINE,
)


def _declared(header: str) -> set[str]:
    """Return what a header declares, read line by line."""
    text = (INCLUDE / header).read_text(encoding="utf-8")
    return {found[found.lastgroup] for found in DECLARED.finditer(text)}


def test_the_build_says_nothing_that_needs_a_change(site: Site) -> None:
    assert site.code == 0, site.said


@pytest.mark.parametrize("header", PUBLIC)
def test_every_symbol_of_a_public_header_is_on_a_page(header: str, site: Site) -> None:
    known = {name.rpartition(".")[2] for name in site.names("c:")}
    declared = _declared(header)
    assert declared, "nothing was found in the header"
    assert sorted(declared - known) == []


def test_every_name_of_the_header_of_cpp_is_on_a_page(site: Site) -> None:
    known = {re.sub(r"\(.*", "", name) for name in site.names("cpp:")}
    names = ("Operation", "Operation::STORE", "Operation::EXEC", "MaybeOperation::value")
    names += ("to_string", "from_string")
    assert [name for name in names if f"xiokv::{name}" not in known] == []


def test_no_header_is_on_the_page_but_the_public_ones(site: Site) -> None:
    page = (site.folder / "docs" / "reference" / "c-headers.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(xiokv\S*?\.h)<", page) == sorted((*PUBLIC, "xiokv/kv_operation.h"))


def test_every_listed_constant_of_the_spec_is_on_a_page_of_each_language(site: Site) -> None:
    text = (ROOT / "tests" / "data" / "public_names.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^(XIOKV_\w+)(?: (\w+\.\w+))?$", text, re.MULTILINE)
    c = {name.rpartition(".")[2] for name in site.names("c:")}
    python = {name.removeprefix("xiokv.generated.nvme_kv.") for name in site.names("py:")}
    assert len(listed) > 100
    assert [name for name, _ in listed if name not in c] == []
    assert [name for _, name in listed if name and name not in python] == []


def _shown(name: str, known: dict[str, str]) -> bool:
    """Tell whether a page has a name, in whichever module below the package it lives."""
    package, _, last = name.rpartition(".")
    return any(place.startswith(package) and place.endswith(f".{last}") for place in known)


@pytest.mark.parametrize("package", [runtime, emulator, testing], ids=lambda p: p.__name__)
def test_every_public_name_of_a_package_is_on_a_page(package: ModuleType, site: Site) -> None:
    names = getattr(package, "__all__", None) or [
        name for name, value in vars(package).items() if isinstance(value, type)
    ]
    known = site.names("py:")
    assert len(names) > 2
    assert [name for name in names if not _shown(f"{package.__name__}.{name}", known)] == []


CLASSES = [
    *("KV", "Result", "Module", "Buffer", "QueuePair", "Emulator", "Relay", "Passthrough"),
    *("testing.Faults", "testing.Rig"),
]


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_member_of_a_class_is_on_a_page(name: str, site: Site) -> None:
    known = site.names("py:")
    members = [
        f"xiokv.runtime.{name}.{member}"
        for member, value in vars(attrgetter(name)(runtime)).items()
        if not member.startswith("_") and (callable(value) or hasattr(value, "__get__"))
    ]
    assert members
    assert [member for member in members if member not in known] == []


def test_a_constructor_that_is_the_users_to_call_is_on_a_page(site: Site) -> None:
    """It is where its arguments are documented."""
    known = site.names("py:")
    described = [
        name
        for name in runtime.__all__
        if "Args:" in (getattr(getattr(runtime, name), "__init__", None).__doc__ or "")
    ]
    assert set(described) >= {"Emulator", "Passthrough", "Relay"}
    assert [name for name in described if f"xiokv.runtime.{name}.__init__" not in known] == []


def test_every_public_name_of_the_twin_is_on_a_page(site: Site) -> None:
    tree = ast.parse((ROOT / "generated" / "nvme_kv.py").read_text(encoding="utf-8"))
    names = [n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))]
    names += [
        target.id
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]
    public = [name for name in names if not name.startswith("_")]
    known = site.names("py:")
    assert [name for name in public if f"xiokv.generated.nvme_kv.{name}" not in known] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_every_page_of_docs_is_in_the_site_and_in_its_contents(page: Path, site: Site) -> None:
    built = site.folder / "docs" / f"{page.stem}.html"
    assert built.exists()
    contents = (site.folder / "docs" / "reference" / "index.html").read_text(encoding="utf-8")
    assert f'href="../{page.stem}.html"' in contents


class _Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def _broken(folder: Path) -> list[str]:
    """Return the links between pages that lead nowhere."""
    files = {path: _Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    broken = []
    for path, page in files.items():
        for link in map(urlsplit, page.links):
            if link.scheme or link.netloc:
                continue
            target = (path.parent / unquote(link.path)).resolve() if link.path else path
            anchors = files[target].anchors if target in files else {"", unquote(link.fragment)}
            if not target.exists() or unquote(link.fragment) not in anchors:
                broken.append(f"{path.relative_to(folder)}: {link.geturl()}")
    return broken


def test_no_page_links_to_nothing(site: Site) -> None:
    assert _broken(site.folder.resolve()) == []


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#there">b</a><img src="gone.svg"><p id="x">')
    (tmp_path / "b.html").write_text('<a href="a.html#x">a</a>')
    assert _broken(tmp_path) == ["a.html: b.html#there", "a.html: gone.svg"]


def test_pictures_of_the_guides_are_in_the_site(site: Site) -> None:
    drawn = {path.name for path in (ROOT / "docs" / "charts").glob("*.svg")}
    assert drawn <= {path.name for path in (site.folder / "_images").iterdir()}


def test_a_projects_headers_in_a_namespace_have_their_own_names(project: Path) -> None:
    with (project / "xiokv.toml").open("a", encoding="utf-8") as config:
        config.write('cpp_namespace = "acme::kv"\n')
    for command in ("fetch", "build"):
        well("xiokv-gen", "--project", project, command)
    built = build(project / "out", "-D", f"xiokv_project={project}")
    assert built.code == 0, built.said
    page = (built.folder / "docs" / "reference" / "c-headers.html").read_text(encoding="utf-8")
    names = [name.replace("xiokv/", "") for name in (*PUBLIC, "xiokv/kv_operation.h")]
    wanted = {name for name in names if name.startswith(("kv_", "nvme_kv"))}
    assert set(re.findall(r"<h2>acme/kv/(\S+?)<", page)) == wanted
    assert {"xiokv_encode_store", "ACME_KV_KEY_MAX_LEN"} <= built.names("c:").keys()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the pages and of what the reference reads, and nothing else."""
    folder = tmp_path / "checkout"
    for name in ("docs", "generated"):
        shutil.copytree(ROOT / name, folder / name)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    return folder


BROKEN = {
    "engine.md": ("[gone](gone-page.md) and [gone](c-api.md#gone-heading)", "gone-page.md"),
    "reference/index.md": ("[gone](commands.md#gone-heading)", "gone-heading"),
    "reference/python.md": ("{py:class}`xiokv.gone`", "xiokv.gone"),
    "reference/c-headers.md": ("{c:func}`xiokv_gone`", "xiokv_gone"),
}


def test_a_page_that_is_broken_fails_the_build(copy: Path, tmp_path: Path) -> None:
    for page, (text, _) in BROKEN.items():
        with (copy / "docs" / page).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{text}\n")
    (copy / "docs" / "new.md").write_text("# A page that was just written\n")
    built = build(tmp_path / "out", source=copy)
    assert built.code != 0
    assert [said for _, said in BROKEN.values() if said not in built.said] == []
    # One warning a link: the page that is new is taken up by itself, and nothing else is wrong.
    assert built.said.count("WARNING: ") == len(BROKEN) + 1, built.said
