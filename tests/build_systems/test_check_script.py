"""The check that other repositories run: the script and its action, and the pre-commit hook."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import BIN, Ran, need, run, well

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/check-generated.sh"
HEADER = "src/nvme/include/their/wire/nvme_kv.h"

CONFIG = """\
[upstream]
ref = "bundled"
[semantics]
profile = "wire/layers.toml"
[output]
dir = "src/nvme"
cpp_namespace = "their::wire"
python = "tools/theirs/wire.py"
emit = ["headers", "engine", "python", "cmake"]
"""
PROFILE = """\
schema = 1
name = "layers"
[[field]]
name = "layer"
dword = 12
bits = [7, 0]
scope = "key"
commands = ["store"]
unit = "index"
meaning = "Layer."
"""

Spoil = Callable[[Path], object]


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return somebody's git repository with a project of its own below its root, committed."""
    need("git")
    repository = tmp_path / "their repository"
    folder = repository / "gpu io"
    (folder / "wire").mkdir(parents=True)
    (folder / "xiokv.toml").write_text(CONFIG, encoding="utf-8")
    (folder / "wire/layers.toml").write_text(PROFILE, encoding="utf-8")
    for command in ("fetch", "build"):
        well("xiokv-gen", command, cwd=folder)
    _git(repository, "init", "--quiet")
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "-m", "theirs")
    return repository


def _git(repository: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return well("git", *who, *arguments, cwd=repository, **quiet)


def _script(repository: Path, *arguments: str, **environment: str) -> Ran:
    return run(SCRIPT, *arguments, cwd=repository, **{"GITHUB_ACTIONS": "", **environment})


def _tamper(folder: Path) -> None:
    with (folder / HEADER).open("a", encoding="utf-8") as header:
        header.write("// mine\n")


def _outdate(folder: Path) -> None:
    path = folder / "wire/layers.toml"
    path.write_text(PROFILE.replace("Layer.", "Another."), encoding="utf-8")


def _lose(folder: Path) -> None:
    (folder / "tools/theirs/wire.py").unlink()


SPOILED = [
    (_tamper, HEADER),
    (_outdate, "src/nvme/include/their/wire/kv_commands.h"),
    (_lose, "tools/theirs/wire.py"),
]


def test_a_fresh_project_passes_and_nothing_is_touched(foreign: Path) -> None:
    ran = _script(foreign, "gpu io")
    assert (ran.code, ran.err) == (0, "")
    assert _git(foreign, "status", "--porcelain") == ""


USE = """\
from xiokv import runtime
with runtime.Emulator() as controller, runtime.load("host").attach(controller) as kv:
    controller.trace_start()
    kv.store([b"a", b"b"], [b"12", b"34"], layer=[3, 200]).raise_for_status()
    print(sorted(r.data[48] for r in controller.trace() if r.kind == "sqe" and r.qid))
"""


def test_its_module_runs_and_is_no_generated_file(foreign: Path) -> None:
    folder = foreign / "gpu io"
    well("xiokv-gen", "build", "--target", "host", cwd=folder)
    assert well("python", "-c", USE, cwd=folder / "wire") == "[3, 200]\n"
    assert _script(foreign, "gpu io").code == 0
    assert _git(foreign, "status", "--porcelain") == '?? "gpu io/build/"\n'


@pytest.mark.parametrize(("spoil", "named"), SPOILED)
def test_stale_files_are_named_with_what_to_run(foreign: Path, spoil: Spoil, named: str) -> None:
    spoil(foreign / "gpu io")
    ran = _script(foreign, "gpu io")
    assert ran.code == 3
    assert f" {named}: " in ran.out
    assert "stale; run xiokv-gen build" in ran.err


def test_without_a_folder_the_nearest_project_is_checked(foreign: Path) -> None:
    assert _script(foreign / "gpu io/wire").code == 0
    nowhere = _script(foreign)
    assert (nowhere.code, "run xiokv-gen init" in nowhere.err) == (2, True)


def test_on_github_the_annotation_names_the_file_in_the_repository(foreign: Path) -> None:
    _tamper(foreign / "gpu io")
    ran = _script(foreign, "gpu io", GITHUB_ACTIONS="true")
    assert ran.code == 3
    assert re.search(rf"^::error file=gpu io/{HEADER},line=\d+::changed", ran.out)


def test_without_xiokv_it_installs_nothing_and_says_how(foreign: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bash", "env", "realpath", "dirname"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    ran = _script(foreign, "gpu io", PATH=str(tmp_path / "bin"))
    assert ran.code == 5
    first, command = ran.err.splitlines()
    assert "there is no xiokv-gen on the PATH; install xiokv" in first
    assert shlex.split(command) == ["python", "-m", "pip", "install", str(ROOT)]


def test_two_folders_are_too_many(foreign: Path) -> None:
    ran = _script(foreign, "gpu io", "more")
    assert (ran.code, "one folder at most" in ran.err) == (2, True)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of what this one tracks, which offers its hook to pre-commit."""
    need("git")
    offered = tmp_path_factory.mktemp("offered")
    tracked = run("git", "ls-files", "-z", cwd=ROOT)
    if tracked.code:
        pytest.skip("this is no checkout, so there is nothing to offer")
    for name in filter(None, tracked.out.split("\0")):
        if (ROOT / name).exists():
            (offered / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, offered / name, follow_symlinks=False)
    _git(offered, "init", "--quiet")
    _git(offered, "add", "--force", ".")
    _git(offered, "commit", "--quiet", "-m", "offered")
    return offered


@pytest.fixture(scope="module")
def hook_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache for pre-commit; skip where it could not install what xiokv requires."""
    folder = tmp_path_factory.mktemp("cache")
    pip = (BIN / "python", "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "0")
    if run(*pip, "--timeout", "5", "--dest", folder / "probe", "click").code:
        pytest.skip("no package index can be reached, and the hook installs xiokv's requirements")
    return folder


@pytest.mark.slow
def test_the_hook_needs_no_xiokv_and_holds_a_commit_with_stale_files(
    foreign: Path, hooks: Path, hook_home: Path
) -> None:
    revision = _git(hooks, "rev-parse", "HEAD").strip()
    config = foreign / ".pre-commit-config.yaml"
    config.write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n"
        '  - id: xiokv-check\n    args: [--project, "gpu io", check]\n',
        encoding="utf-8",
    )
    _git(foreign, "add", config.name)
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != str(BIN))
    assert shutil.which("xiokv-gen", path=path) is None
    surroundings = {"PATH": path, "PRE_COMMIT_HOME": str(hook_home), "PYTHONPATH": ""}

    def hooked() -> Ran:
        command = (BIN / "pre-commit", "run", "--all-files")
        return run(*command, cwd=foreign, seconds=400, **surroundings)

    ran = hooked()
    assert ran.code == 0, ran.said
    _tamper(foreign / "gpu io")
    ran = hooked()
    assert ran.code == 1
    assert "exit code: 3" in ran.out
    assert f"~ {HEADER}: changed" in ran.out


@pytest.mark.parametrize("stale", [False, True], ids=["fresh", "stale"])
def test_the_one_line_of_the_action_runs_the_script(foreign: Path, stale: bool) -> None:
    if stale:
        _tamper(foreign / "gpu io")
    (line,) = re.findall(r"^ *- run: '(.*)'$", (ROOT / "action.yml").read_text(), re.MULTILINE)
    settings = {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_ACTIONS": "true"}
    ran = run("bash", "-e", "-c", line, cwd=foreign, XIOKV_PROJECT="gpu io", **settings)
    assert ran.code == (3 if stale else 0), ran.said
    assert ran.out.startswith("::error file=gpu io/") is stale


WORKFLOW = ("check-jsonschema", "--builtin-schema", "vendor.github-workflows")
YAML = {
    ".github/workflows/ci.yml": WORKFLOW,
    ".pre-commit-hooks.yaml": ("pre-commit", "validate-manifest"),
    "action.yml": ("check-jsonschema", "--builtin-schema", "vendor.github-actions"),
}


@pytest.mark.parametrize("path", YAML)
def test_a_file_of_yaml_fits_its_schema(path: str) -> None:
    program, *arguments = YAML[path]
    well(BIN / program, *arguments, ROOT / path)


@pytest.mark.parametrize("spoiled", ["jobs:\n  a:\n    step: []\n", "on: push\non: push\n"])
def test_a_workflow_that_is_none_is_found(tmp_path: Path, spoiled: str) -> None:
    (tmp_path / "bad.yml").write_text(f"name: bad\n{spoiled}", encoding="utf-8")
    program, *arguments = WORKFLOW
    assert run(BIN / program, *arguments, tmp_path / "bad.yml").code != 0


def test_every_file_of_yaml_has_a_schema() -> None:
    """Also one that is new, and not yet added; templates, as `init` writes them, elsewhere."""
    asked = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.yml", "*.yaml")
    found = well(*asked, cwd=ROOT).splitlines()
    assert {name for name in found if not name.startswith("templates/project/")} == set(YAML)
