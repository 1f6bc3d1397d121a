"""The upstream repository as a git directory on this machine, bare or with a work tree.

Only reading commands are run, without a shell, without the configuration of the user or
the system, and with every transport off: a git directory from elsewhere runs nothing here.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from xiokv.codegen.errors import MissingToolError, XiokvError
from xiokv.codegen.upstream.refs import Refs, as_commit, choose, parse_show_ref
from xiokv.codegen.upstream.source import NotFoundError

_SECONDS = 60
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


def find_git_dir(path: Path) -> Path | None:
    """Return the git directory that `path` is or holds, or None for a plain folder.

    git itself would search upward, and find the project's own repository.
    """
    if (path / ".git").exists():
        return path / ".git"
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        return path
    return None


class GitDirectory:
    """Commits and files of a local repository, whatever is checked out."""

    def __init__(self, git_dir: Path) -> None:
        """Read the repository whose git directory is `git_dir`."""
        self._git_dir = git_dir

    def refs(self) -> Refs:
        """Return the refs of the repository."""
        listing = self._git("show-ref", "--head", "--dereference")
        if listing.returncode > 1:  # 1 means that there is no ref at all
            raise XiokvError(f"{self._git_dir}: {_complaint(listing)}")
        return parse_show_ref(listing.stdout.decode("utf-8", "replace"))

    def resolve(self, ref: str) -> str:
        """Return the commit that `ref` names; it must be there."""
        commit = as_commit(ref) or choose(self.refs(), ref)
        kind = self._git("cat-file", "-t", commit)
        if kind.returncode:
            raise XiokvError(f"{self._git_dir} does not hold {commit}: {_complaint(kind)}")
        if kind.stdout.strip() != b"commit":
            raise XiokvError(f"{ref} is a {kind.stdout.decode().strip()}; give a commit")
        return commit

    def read(self, commit: str, path: str) -> bytes:
        """Return one file at a commit."""
        name = f"{commit}:{path}"
        blob = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if blob.returncode:
            raise NotFoundError(f"commit {commit} has no {path}")
        content = self._git("cat-file", "blob", blob.stdout.decode().split()[-1])
        if content.returncode:
            raise XiokvError(f"{path} at {commit}: {_complaint(content)}")
        return content.stdout

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        try:
            return subprocess.run(
                ["git", f"--git-dir={self._git_dir}", *arguments],
                env=inherited | _ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except OSError as error:
            raise MissingToolError(
                f"git cannot be run ({error.strerror}); install git, or fetch over HTTPS without"
                " --from"
            ) from error
        except subprocess.TimeoutExpired:
            raise XiokvError(f"git {arguments[0]} took more than {_SECONDS} s") from None


def _complaint(result: subprocess.CompletedProcess[bytes]) -> str:
    said = result.stderr.decode("utf-8", "replace").strip()
    return f"git says: {said or f'nothing, and exits with {result.returncode}'}"
