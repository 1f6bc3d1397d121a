"""What keeps generated files current in a repository: .gitattributes and GitHub workflows.

In: a project that begins, and where its workflows install xiokv from. Out: texts to write,
and words about what the user has to do. Nothing that is there is written over: lines are
added to .gitattributes, and any other file in the way stays as it is.
"""

from __future__ import annotations

import re
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
_INSTALL = "@INSTALL@"  # stands in a template for the step that installs xiokv
_INSTALLING = """\
      - run: python -m pip install '{source}'
"""
# xiokv is on no package index, so a name alone would install what anybody puts there.
_NO_SOURCE = """\
      # Say here where xiokv is installed from. It is on no package index: what is called so
      # there is somebody else's. For example, with all 40 digits of a commit:
      #   - run: python -m pip install 'git+https://github.com/OWNER/xiokv@COMMIT'
      - run: |
          echo "::error::{name} does not say where to install xiokv from; put it in this step"
          exit 1
"""
_SOURCE = re.compile(
    r"git\+https://[\w.:/~+-]+@[0-9a-f]{40}|https://[\w.:/~+%-]+\.whl#sha256=[0-9a-f]{64}", re.ASCII
)
_PATH = re.compile(r"[\w./+-]+", re.ASCII)
_REMARK = "# Written by xiokv-gen, which compares these files byte by byte."


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Texts by absolute path, and a line for each thing that is left to the user."""

    texts: dict[Path, str]
    notes: tuple[str, ...]


def scaffold(config: Config, source: str | None, *, follow: bool) -> Scaffold:
    """Return what a new project gets besides its own files.

    Args:
        config: the project.
        source: what the workflows give to pip to install xiokv; None makes them fail at the
            step that has to say it.
        follow: whether to add the workflow that follows upstream's releases.
    """
    texts: dict[Path, str] = {}
    notes = [*_add_attributes(config, texts)]
    files = {**_CHECK, **(_FOLLOW if follow else {})}
    above = _repository_above(config.root)
    if above is None:
        notes += _add_files(config.root, files, source, texts)
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
    root: Path, files: dict[str, str], source: str | None, texts: dict[Path, str]
) -> Iterator[str]:
    """Add the files that are not there; yield what is left to the user."""
    for name, template in files.items():
        path = root / name
        if path.exists() or path.is_symlink():
            yield f"{name} is there and stays as it is; {_instead(name)}"
        elif resolve_below(root, path.parent) is None or not _can_hold(root, path.parent):
            yield f"{name} cannot be made: its folder is a link or a file; {_instead(name)}"
        else:
            texts[path] = _template(template).replace(_INSTALL, _install_step(name, source))
            if source is None and path.suffix == ".yml":
                yield (
                    f"{name} fails until it says where xiokv is installed from, which is on no"
                    " package index: write it there"
                )


def check_source(source: str, root: Path) -> str | None:
    """Return why workflows may not install xiokv from `source`, or None."""
    if _SOURCE.fullmatch(source):
        return None
    within = resolve_below(root, root / source) if _PATH.fullmatch(source) else None
    if within is not None and within != root and within.exists():
        return None
    return (
        f"{source!r} pins nothing, or is not in {root}; allowed are"
        " git+https://HOST/PATH@COMMIT with the 40 digits of a commit,"
        " https://HOST/PATH.whl#sha256=DIGEST, and the path of a wheel or checkout below the"
        " project's folder"
    )


def _install_step(name: str, source: str | None) -> str:
    if source is None:
        return _NO_SOURCE.format(name=name)
    # Before what has no scheme, "./" keeps pip from looking for a package of that name.
    return _INSTALLING.format(source=source if "://" in source else f"./{source}")


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
