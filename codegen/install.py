"""Installs what a project generates below a prefix, for other projects to use.

In: a project's `Config` and a prefix. Out: what was written and taken away. Headers go to
``include/``, all else below ``share/``: neither depends on the machine. What is installed is
rendered anew, so it is what the inputs say, whatever lies in the project's folder. Projects
whose packages have different names lie side by side, each with a list of its files.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from xiokv.codegen.config import Config, Output
from xiokv.codegen.listed import Listed, write_listed
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.render.packages import installed_dir
from xiokv.codegen.spec.load import load_spec

_LIST = "installed-files.txt"


def install(config: Config, prefix: Path) -> Listed:
    """Install the project's output below `prefix`, an absolute path without links.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or cannot be written;
            nothing was written.
    """
    spec = load_spec(config)
    texts = {
        prefix / _place(path, config.output): text
        for path, text in render_all(spec, config.output).items()
    }
    name = f"{installed_dir(config.output.names)}/{_LIST}"
    return write_listed(prefix, texts, name, "xiokv-gen install", spec.identity.spec)


def _place(path: Path, output: Output) -> PurePosixPath:
    """Return where below a prefix a generated file goes."""
    below = PurePosixPath(installed_dir(output.names))
    if path == output.python:
        return below / "python" / path.name
    relative = PurePosixPath(path.relative_to(output.dir).as_posix())
    as_it_is = relative.parts[0] in ("include", "share")
    return relative if as_it_is else below / relative
