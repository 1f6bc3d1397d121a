"""What keeps generated files current in a repository: .gitattributes and GitHub workflows.

In: a project that begins, and the versions of xiokv that it works with. Out: texts to write,
and words about what the user has to do. Nothing that is there is written over: lines are
added to .gitattributes, and any other file in the way stays as it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from xiokv.codegen.config import Config
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.files import read_text, resolve_below

_ATTRIBUTES = ".gitattributes"
_WORKFLOWS = ".github/workflows"
# Path in the project -> template in xiokv.templates.
_CHECK = {f"{_WORKFLOWS}/xiokv.yml": "xiokv.yml"}
_FOLLOW = {
    f"{_WORKFLOWS}/xiokv-outdated.yml": "xiokv-outdated.yml",
    ".github/xiokv-outdated.sh": "xiokv-outdated.sh",
}
_REQUIREMENT = "@XIOKV@"  # stands in a template for what pip is to install
_REMARK = "# Written by xiokv-gen, which compares these files byte by byte."


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Texts by absolute path, and a line for each thing that is left to the user."""

    texts: dict[Path, str]
    notes: tuple[str, ...]


def scaffold(config: Config, requires: str, *, follow: bool) -> Scaffold:
    """Return what a new project gets besides its own files.

    Args:
        config: the project.
        requires: the versions of xiokv that the workflows install.
        follow: whether to add the workflow that follows upstream's releases.
    """
    texts: dict[Path, str] = {}
    notes = [*_add_attributes(config, texts)]
    files = {**_CHECK, **(_FOLLOW if follow else {})}
    above = _repository_above(config.root)
    if above is None:
        notes += _add_files(config.root, files, requires, texts)
    else:
        below = config.root.relative_to(above).as_posix()
        notes.append(
            f"GitHub reads the workflows of {above} alone; add there a step that runs:"
            f" xiokv-gen --project {shlex.quote(below)} check --format github"
        )
        if follow:
            notes.append(f"nothing follows upstream: a project has to be at the root of {above}")
    return Scaffold(texts, tuple(notes))


def _add_attributes(config: Config, texts: dict[Path, str]) -> Iterator[str]:
    """Add the lines that .gitattributes lacks; yield what is left to the user."""
    path = config.root / _ATTRIBUTES
    wanted = list(_attributes(config))
    try:
        present = _present(path)
    except XiokvError as error:
        yield f"{error}; add to it: {'; '.join(wanted)}"
        return
    lines = [line for line in wanted if line not in present.splitlines()]
    if lines:
        texts[path] = _appended(present, [_REMARK, *lines])


def _present(path: Path) -> str:
    """Return the text of a file with its line ends as they are; empty where there is none."""
    if path.is_symlink():
        raise XiokvError(f"{path.name} is a link, which is not followed")
    return path.read_bytes().decode() if read_text(path, path.name) is not None else ""


def _attributes(config: Config) -> Iterator[str]:
    folder = config.output.dir.relative_to(config.root).as_posix()
    yield f"/{folder}/** linguist-generated=true text eol=lf"
    yield f"/{config.lock_path.name} linguist-generated=true text eol=lf"


def _appended(text: str, lines: Iterable[str]) -> str:
    before = text if not text or text.endswith("\n") else f"{text}\n"
    return before + "".join(f"{line}\n" for line in lines)


def _repository_above(root: Path) -> Path | None:
    """Return the root of the repository that holds `root` below its own root, if one does."""
    if (root / ".git").exists():
        return None
    return next((folder for folder in root.parents if (folder / ".git").exists()), None)


def _add_files(
    root: Path, files: dict[str, str], requires: str, texts: dict[Path, str]
) -> Iterator[str]:
    """Add the files that are not there; yield what is left to the user."""
    for name, template in files.items():
        path = root / name
        if path.exists() or path.is_symlink():
            yield f"{name} is there and stays as it is; {_instead(name)}"
        elif resolve_below(root, path.parent) is None or not _can_hold(root, path.parent):
            yield f"{name} cannot be made: its folder is a link or a file; {_instead(name)}"
        else:
            texts[path] = _template(template).replace(_REQUIREMENT, f"xiokv{requires}")


def _instead(name: str) -> str:
    if name in _CHECK:
        return "have a workflow run: xiokv-gen check --format github"
    return "xiokv-gen init --follow-upstream in an empty folder writes it, to be compared"


def _can_hold(root: Path, folder: Path) -> bool:
    """Tell whether a folder below `root` is there, or can be made."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return nearest.is_dir() and nearest.is_relative_to(root)


def _template(name: str) -> str:
    return (resources.files("xiokv.templates") / "project" / name).read_text(encoding="utf-8")
