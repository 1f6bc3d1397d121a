"""Every command and block of code that the documents show works, and prints what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest

from xiokv.runtime import toolchain

from .pages import ALL, PAGES, PATH, ROOT, Block, blocks_of

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
RUNNERS = {"bash": ("bash", "-euo", "pipefail"), "python": (sys.executable,)}
SECONDS = 300
COPY_MARK = "<!-- runs in a copy of the checkout -->"
COPIED = (
    *("codegen", "templates", "generated", "runtime", "scripts/pkg", "tests/data"),
    *("xiokv.toml", "xiokv.lock"),
)
TAG = re.compile(r"output|file=\S+|needs=\S+")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")
LEAVES = re.compile(r"^(?:[^ (\n].*[;&] *)?(?:cd|pushd)\b", re.MULTILINE)  # not in a subshell
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def _stages(page: Path) -> list[list[Block]]:
    """Return what becomes of a page's blocks, step by step.

    Blocks of one language in a row run in one process, so that they share its variables.
    """
    stages: list[list[Block]] = []
    for block in blocks_of(page):
        if block.kind == "shown" or block.lacks:
            continue
        if stages and block.kind in ("output", stages[-1][0].kind) and block.kind != "file":
            stages[-1].append(block)
        else:
            stages.append([block])
    return stages


def _script(blocks: list[Block], folder: Path) -> Path:
    """Write the blocks to a script in which every line has the number that it has in the page."""
    lines: list[str] = []
    for block in blocks:
        if block.kind != "output":
            lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
    script = folder / blocks[0].page.name
    script.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return script


def _environment(project: Path) -> dict[str, str]:
    """Return one in which nothing is set for xiokv but the place of what it compiles."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XIOKV_")}
    return kept | {
        "PATH": PATH,
        "PYTHONPATH": str(project / "scripts" / "pkg"),  # of a copy of the checkout
        "XDG_CACHE_HOME": str(ROOT / "build" / "cache"),
    }


def _run(blocks: list[Block], project: Path, folder: Path) -> None:
    done = subprocess.run(
        [*RUNNERS[blocks[0].kind], _script(blocks, folder)],
        cwd=project,
        env=_environment(project),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{blocks[0].place} and what follows it:\n{done.stdout}"
    for block in blocks:
        if block.kind == "output":
            assert block.text in done.stdout, f"{block.place} shows what was not printed"


def _compile_both_ways(block: Block, project: Path) -> None:
    """Compile what a page shows as C, as C++ too: whoever copies it may have either."""
    for compiler, standard, language in (("gcc", "c11", "c"), ("g++", "c++17", "c++")):
        if shutil.which(compiler) is None:
            continue
        command = [compiler, f"-std={standard}", *WARNINGS, "-x", language, "-fsyntax-only"]
        done = subprocess.run(
            [*command, "-I", "generated/include", block.tag("file")],
            cwd=project,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{block.place} by {compiler}:\n{done.stderr}"


def _prepare(page: Path, project: Path) -> None:
    """Make the folder of a reader who follows a page: a repository, empty or a copy of this."""
    (project / ".git").mkdir(parents=True)
    if COPY_MARK not in page.read_text(encoding="utf-8"):
        return
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, project / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, project / name)


def _follow(page: Path, folder: Path) -> None:
    """Do what a page shows, in its order."""
    project = folder / "project"
    _prepare(page, project)
    for blocks in _stages(page):
        if blocks[0].kind == "file":
            (project / blocks[0].tag("file")).write_text(blocks[0].text, encoding="utf-8")
        else:
            _run(blocks, project, folder)
    for block in blocks_of(page):
        if block.tag("file").endswith(".c"):
            _compile_both_ways(block, project)


@pytest.fixture(scope="module", autouse=True)
def _compiled(own_surroundings: None) -> None:
    """Compile the library that most pages use once, for as long as it takes."""
    with suppress(toolchain.MissingFault):
        toolchain.build_cached(toolchain.capi_recipe(version("xiokv")))


# The README is what `scripts/test.sh quick` looks at.
FOLLOWED = [
    pytest.param(page, marks=[] if page.name == "README.md" else pytest.mark.slow) for page in PAGES
]


@pytest.mark.parametrize("page", FOLLOWED, ids=lambda page: page.name)
def test_what_a_page_shows_works(page: Path, tmp_path: Path) -> None:
    _follow(page, tmp_path)


BROKEN = {
    "a command that fails": ("```bash\nfalse\ntrue\n```\n", "page.md:2 and what follows"),
    "a failure in a pipe": ("```bash\nfalse | true\n```\n", "page.md:2 and what follows"),
    "an exception": ("\n```python\nx = 1\n```\n```python\ny\n```\n", "line 6.*NameError"),
    "C that is no C++": (
        "```c file=a.c\nstruct a { int b; };\nstruct a c = {.b = 1};\n```\n",
        r"page.md:2 by g\+\+.*designated",
    ),
    "another output": ("```bash\necho a\n```\n```text output\nb\n```\n", "page.md:5 shows"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_page_that_does_not_hold_is_found(text: str, said: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    (tmp_path / "run").mkdir()
    with pytest.raises(AssertionError, match=f"(?s){said}"):
        _follow(page, tmp_path / "run")


@pytest.mark.parametrize("block", [b for b in ALL if b.lacks], ids=lambda block: block.place)
def test_a_block_that_was_left_out_is_told(block: Block) -> None:
    pytest.skip(f"{block.place} {block.lacks}")


def test_no_block_is_merely_shown_but_plain_text() -> None:
    shown = [block for block in ALL if block.kind == "shown"]
    assert [block.place for block in shown if block.language != "text" or block.tags] == []


def test_every_fence_is_closed_and_has_tags_that_mean_something() -> None:
    fences = sum(len(re.findall("^ *```", page.read_text(), re.MULTILINE)) for page in PAGES)
    assert fences == 2 * len(ALL)
    odd = [block.place for block in ALL for tag in block.tags if not TAG.fullmatch(tag)]
    assert odd == []


def test_no_commands_leave_the_folder_in_which_the_next_block_starts() -> None:
    leaving = [block.place for block in ALL if block.kind == "bash" and LEAVES.search(block.text)]
    assert leaving == []


def test_a_file_that_a_page_shows_is_used_by_a_later_block_of_it() -> None:
    unused = [
        block.place
        for block in ALL
        if block.kind == "file"
        and not any(
            block.tag("file") in later.text
            for later in blocks_of(block.page)
            if later.line > block.line
        )
    ]
    assert unused == []


def _anchors(page: Path) -> set[str]:
    """Return the names under which the headings of a page can be reached."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", text).lower().replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for place, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / place if place else page
        assert target.exists(), place
        assert not anchor or anchor in _anchors(target), f"{place}#{anchor}"
