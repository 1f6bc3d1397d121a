"""Installs what a project generates below a prefix, and takes it away again.

In: a project's `Config` and a prefix. Out: what was written and taken away. Headers go to
``include/``, all else below ``share/``: neither depends on the machine. What is installed is
rendered anew, so it is what the inputs say, whatever lies in the project's folder. Projects
whose packages have different names lie side by side, each with a list of its files.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from xiokv.codegen.config import Config, Output
from xiokv.codegen.errors import UsageError
from xiokv.codegen.listed import Listed, remove_listed, write_listed
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.render.packages import installed_dir
from xiokv.codegen.spec.load import load_spec

_LIST = "installed-files.txt"
_COMMAND = "xiokv-gen install"


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
    return write_listed(prefix, texts, name, _COMMAND, spec.identity.spec)


def uninstall(prefix: Path, package: str | None = None) -> tuple[Path, ...]:
    """Take away what was installed below `prefix`, its list, and folders that become empty.

    Args:
        prefix: an absolute path without links.
        package: name of the package, where several projects are installed there.

    Returns:
        The files that were removed. What no longer looks generated stays.

    Raises:
        UsageError: nothing was installed there, or several packages and none was named.
    """
    found = sorted(path.parent.name for path in prefix.glob(f"share/*/{_LIST}"))
    if not found:
        raise UsageError(f"{prefix} has no {_LIST}: xiokv-gen install put nothing there")
    if package is None and len(found) > 1:
        raise UsageError(f"{prefix} holds {', '.join(found)}; say which with --package")
    if package is not None and package not in found:
        raise UsageError(f"{prefix} has no package {package!r}; it holds {', '.join(found)}")
    return remove_listed(prefix, f"share/{package or found[0]}/{_LIST}", _COMMAND)


def _place(path: Path, output: Output) -> PurePosixPath:
    """Return where below a prefix a generated file goes."""
    below = PurePosixPath(installed_dir(output.names))
    if path == output.python:
        return below / "python" / path.name
    relative = PurePosixPath(path.relative_to(output.dir).as_posix())
    as_it_is = relative.parts[0] in ("include", "share")
    return relative if as_it_is else below / relative
