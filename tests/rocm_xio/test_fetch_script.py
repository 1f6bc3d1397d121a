"""fetch-spdk-kv-headers.sh: the locked header, whole, or a message and nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.web import Server, make_certificate, serving

SCRIPT = Path(__file__).parents[2] / "scripts" / "fetch-spdk-kv-headers.sh"
HEADER = "include/spdk/nvme_spec.h"
BODY = b"enum spdk_nvme_kv_opcode { A = 1 };\n" * 3000
CORE_UTILITIES = ("cat", "dirname", "env", "mkdir", "mv", "rm", "sha256sum", "touch")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def site() -> Iterator[Server]:
    """Return a server without TLS that has the header."""
    with serving() as running:
        running.answer("/" + HEADER, BODY)
        yield running


@pytest.fixture
def tls_site(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    """Return a server with TLS that has the header, and whose certificate curl trusts."""
    certificate = make_certificate(tmp_path_factory.mktemp("tls"))
    monkeypatch.setenv("CURL_CA_BUNDLE", str(certificate))
    with serving(certificate) as running:
        running.answer("/" + HEADER, BODY)
        yield running


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what would lead the script elsewhere than the test says."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    for name in os.environ:
        if name.lower().endswith("_proxy") or name in ("XIOKV_LOCK", "CURL_CA_BUNDLE"):
            monkeypatch.delenv(name)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return another repository, which has a copy of the script and nothing of xiokv."""
    root = tmp_path / "their repository"
    (root / "scripts" / "build").mkdir(parents=True)
    (root / ".git").mkdir()
    shutil.copy(SCRIPT, root / "scripts" / "build")
    return root


@pytest.fixture
def run(repository: Path) -> Run:
    """Return a function that runs the copy, in a folder that has nothing to do with it."""

    def call(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [repository / "scripts" / "build" / SCRIPT.name, *arguments],
            cwd=repository.parent,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def lock_text(url: str, sha256: str = hashlib.sha256(BODY).hexdigest(), path: str = HEADER) -> str:
    """Return a lock with the entry of one header between two others."""
    other = 'url = "https://example.org/other"\nsha256 = "00"\nbytes = 1\nspdx = "MIT"\n'
    return (
        'lock_version = 1\ngenerator = "0.1.0"\nowned = [\n    "generated/a.h",\n]\n\n'
        '[upstream]\nrepository = "https://example.org/spdk"\nref = "v26.05"\n\n'
        f'[[file]]\npath = "include/spdk/a.h"\n{other}\n'
        f'[[file]]\npath = "{path}"\nurl = "{url}"\nsha256 = "{sha256}"\nbytes = {len(BODY)}\n\n'
        f'[[file]]\npath = "include/spdk/z.h"\n{other}'
    )


def lock_at(root: Path, text: str) -> Path:
    lock = root / "xiokv.lock"
    lock.write_text(text, encoding="utf-8")
    return lock


def files_below(folder: Path) -> list[str]:
    """Return the files that a run left, by name."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("kind", ["site", "tls_site"])
def test_the_locked_header_is_written(
    request: pytest.FixtureRequest, repository: Path, run: Run, tmp_path: Path, kind: str
) -> None:
    lock_at(repository, lock_text(f"{request.getfixturevalue(kind).url}/{HEADER}"))
    done = run(tmp_path / "out" / "nvme")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out/nvme/spdk-nvme_spec.h").read_bytes() == BODY
    assert files_below(tmp_path / "out") == ["spdk-nvme_spec.h"]


def test_a_lock_as_git_checks_it_out_on_windows_is_read(
    repository: Path, run: Run, site: Server, tmp_path: Path
) -> None:
    lock_at(repository, lock_text(f"{site.url}/{HEADER}").replace("\n", "\r\n"))
    assert run(tmp_path / "out").returncode == 0


def test_what_is_there_and_locked_is_kept_without_a_question(
    repository: Path, run: Run, site: Server, tmp_path: Path
) -> None:
    lock_at(repository, lock_text(f"{site.url}/{HEADER}"))
    run(tmp_path / "out")
    target = tmp_path / "out" / "spdk-nvme_spec.h"
    os.utime(target, (1, 1))
    assert run(tmp_path / "out").stdout == f"{target} is the locked one\n"
    assert len(site.asked) == 1
    assert target.stat().st_mtime > 1  # a build that compares times is satisfied


def test_what_is_there_and_not_locked_is_replaced(
    repository: Path, run: Run, site: Server, tmp_path: Path
) -> None:
    lock_at(repository, lock_text(f"{site.url}/{HEADER}"))
    (tmp_path / "spdk-nvme_spec.h").write_text("enum {};", encoding="utf-8")
    assert run(tmp_path).returncode == 0
    assert (tmp_path / "spdk-nvme_spec.h").read_bytes() == BODY


def test_the_lock_may_be_named(repository: Path, run: Run, site: Server, tmp_path: Path) -> None:
    lock = lock_at(tmp_path, lock_text(f"{site.url}/{HEADER}"))
    assert run("--lock", lock, tmp_path / "a").returncode == 0
    assert run(tmp_path / "b", XIOKV_LOCK=str(lock)).returncode == 0


def test_a_lock_past_the_root_of_the_repository_is_not_taken(
    repository: Path, run: Run, site: Server, tmp_path: Path
) -> None:
    lock_at(tmp_path, lock_text(f"{site.url}/{HEADER}"))
    done = run(tmp_path / "out")
    assert done.returncode == 1
    assert "no xiokv.lock in " in done.stderr


def test_an_https_redirect_is_followed(
    repository: Path, run: Run, tls_site: Server, tmp_path: Path
) -> None:
    tls_site.redirect("/moved", f"{tls_site.url}/{HEADER}")
    lock_at(repository, lock_text(f"{tls_site.url}/moved"))
    assert run(tmp_path / "out").returncode == 0


@dataclass(frozen=True)
class Fault:
    """A lock's entry or a server's answer that is refused, and what is said of it."""

    said: str
    path: str = f"/{HEADER}"
    url: str | None = None
    sha256: str = hashlib.sha256(BODY).hexdigest()
    names: str = HEADER


FAULTS = {
    "another hash": Fault("has another SHA-256 than", sha256="0" * 64),
    "an error page": Fault("answers 404, not 200 OK", path="/none"),
    "a server error": Fault("answers 500, not 200 OK", path="/broken"),
    "no content": Fault("answers 204, not 200 OK", path="/empty"),
    "an http redirect": Fault("answers 302, not 200 OK", path="/moved"),
    "a short body": Fault("the answer ended early", path="/short"),
    "too much": Fault("more than 8192 KiB; that is no header file", path="/large"),
    "too much, unannounced": Fault("more than 8192 KiB; that is", path="/endless"),
    "nobody there": Fault("cannot be reached", url="http://127.0.0.1:1/h"),
    "http to elsewhere": Fault("is not allowed; https", url="http://example.org/h"),
    "a name like this machine's": Fault("is not allowed", url="http://127.0.0.1.example.org/h"),
    "credentials": Fault("is not allowed", url="https://me:secret@example.org/h"),
    "a file address": Fault("is not allowed", url="file:///etc/passwd"),
    "no address": Fault("gives no address for", url=""),
    "no hash": Fault("'' is no SHA-256 of", sha256=""),
    "half a hash": Fault("'abc' is no SHA-256 of", sha256="abc"),
    "no entry": Fault("names no include/spdk/nvme_spec.h; pin one", names="include/spdk/b.h"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_and_nothing_is_written(
    repository: Path, run: Run, site: Server, tmp_path: Path, fault: Fault
) -> None:
    large = bytes(9 << 20)
    site.answer("/broken", BODY, status=500)
    site.answer("/empty", status=204)
    site.answer("/short", BODY, length=len(BODY) + 10)
    site.answer("/large", large)
    site.answer("/endless", large, announces=False)
    site.redirect("/moved", f"{site.url}/{HEADER}")
    url = site.url + fault.path if fault.url is None else fault.url
    lock_at(repository, lock_text(url, fault.sha256, fault.names))
    target = tmp_path / "out" / "spdk-nvme_spec.h"
    target.parent.mkdir()
    target.write_text("before", encoding="utf-8")
    done = run(target.parent)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("fetch-spdk-kv-headers.sh: ")
    assert fault.said in done.stderr.splitlines()[0]
    assert target.read_text(encoding="utf-8") == "before"
    assert files_below(target.parent) == ["spdk-nvme_spec.h"]


def test_https_is_not_left_on_a_redirect(
    repository: Path, run: Run, site: Server, tls_site: Server, tmp_path: Path
) -> None:
    tls_site.redirect("/moved", f"{site.url}/{HEADER}")
    lock_at(repository, lock_text(f"{tls_site.url}/moved"))
    done = run(tmp_path / "out")
    assert done.returncode == 1
    assert "redirected elsewhere than to https" in done.stderr
    assert site.asked == []


def test_a_certificate_that_nobody_trusts_is_refused(
    repository: Path, run: Run, tls_site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CURL_CA_BUNDLE")
    lock_at(repository, lock_text(f"{tls_site.url}/{HEADER}"))
    done = run(tmp_path / "out")
    assert (done.returncode, tls_site.asked) == (1, [])
    assert "not secure; check the certificates" in done.stderr


def test_settings_and_credentials_of_the_user_are_not_used(
    repository: Path, run: Run, site: Server, tmp_path: Path
) -> None:
    (tmp_path / ".curlrc").write_text('output = "elsewhere"\n', encoding="utf-8")
    lock_at(repository, lock_text(f"{site.url}/{HEADER}"))
    assert run(tmp_path / "out", HOME=str(tmp_path)).returncode == 0
    assert files_below(tmp_path / "out") == ["spdk-nvme_spec.h"]


def test_a_lock_of_a_newer_version_is_refused(repository: Path, run: Run, tmp_path: Path) -> None:
    text = lock_text("https://example.org/h").replace("lock_version = 1", "lock_version = 2")
    lock_at(repository, text)
    done = run(tmp_path / "out")
    assert done.returncode == 1
    assert "lock_version is '2', and this script reads 1" in done.stderr


def test_a_lock_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    done = run("--lock", tmp_path / "none.lock", tmp_path / "out")
    assert done.returncode == 1
    assert "none.lock: no such lock" in done.stderr


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("file/out", "file/out: cannot be made"),
        ("full", "full/spdk-nvme_spec.h: a folder is in the way"),
    ],
)
def test_an_output_folder_that_cannot_be_used_is_named(
    repository: Path, run: Run, site: Server, tmp_path: Path, place: str, said: str
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "full" / "spdk-nvme_spec.h").mkdir(parents=True)
    lock_at(repository, lock_text(f"{site.url}/{HEADER}"))
    done = run(tmp_path / place)
    assert (done.returncode, site.asked) == (1, [])
    assert said in done.stderr


def test_an_output_folder_without_a_right_to_write_is_named(
    repository: Path, run: Run, site: Server, tmp_path: Path
) -> None:
    lock_at(repository, lock_text(f"{site.url}/{HEADER}"))
    done = run("/proc/self")  # where not even root makes a file
    assert (done.returncode, site.asked) == (1, [])
    assert "/proc/self: cannot be written to" in done.stderr.splitlines()[0]


@pytest.mark.parametrize("missing", ["curl", "sha256sum"])
def test_a_tool_that_is_missing_is_named(
    repository: Path, run: Run, site: Server, tmp_path: Path, missing: str
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "curl", *CORE_UTILITIES):
        if name != missing:
            (tools / name).symlink_to(shutil.which(name) or "")
    lock_at(repository, lock_text(f"{site.url}/{HEADER}"))
    done = run(tmp_path / "out", PATH=str(tools))
    assert done.returncode == 5
    assert f"{missing} is not installed" in done.stderr


def test_bash_curl_and_the_core_utilities_are_enough(
    repository: Path, run: Run, site: Server, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "curl", *CORE_UTILITIES):
        (tools / name).symlink_to(shutil.which(name) or "")
    lock_at(repository, lock_text(f"{site.url}/{HEADER}"))
    assert run(tmp_path / "out", PATH=str(tools)).stderr == ""


@pytest.mark.parametrize(
    "arguments", [[], ["a", "b"], ["--lock"], ["--nonsense", "a"], [""]], ids=str
)
def test_a_wrong_command_line_shows_the_usage(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: fetch-spdk-kv-headers.sh [--lock FILE] OUTPUT_DIR" in done.stderr


def test_help_is_no_error(run: Run) -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "OUTPUT_DIR/spdk-nvme_spec.h" in done.stdout
