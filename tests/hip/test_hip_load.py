"""load: AMD's library, its devices and code objects; what is refused, each with its own words."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.tool import TOOL
from xiokv.runtime import abi, toolchain

GENERATED = Path(__file__).resolve().parents[2] / "generated"
VERIFY = (*TOOL, "verify", "--sizes", "16", "--count", "1", "--no-faults", "--target", "hip")

FAILURE, MISSING = 1, 5

# A code object's outside: its identity, and kernels that do nothing.
OUTSIDE = """
#define GLOBAL extern "C" __attribute__((device, used, visibility("protected")))
#define KERNEL extern "C" __attribute__((global)) void
struct batch { unsigned char bytes[%(bytes)d]; };
GLOBAL unsigned long long %(abi)s[2] = {%(version)du, %(layout)du};
GLOBAL char %(spec_name)s[65] = "%(spec)s";
"""
SPEC = "5" * 64
CODE = ("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib")
CODE_OPTIONS = ("-O2", "-mcode-object-version=5")


@pytest.fixture(scope="module", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


def built(*architectures: str) -> Path:
    """Return the folder of the module for some architectures."""
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed: apt-get install clang-19 lld-19")
    recipe = toolchain.recipe("hip", GENERATED, version("xiokv"), architectures)
    made = toolchain.build_cached(recipe)
    return made if made.is_dir() else made.parent


@pytest.fixture
def copy(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies the module for some architectures into a new folder."""

    def make(*architectures: str) -> Path:
        folder = built(*(architectures or ("gfx942",)))
        return Path(shutil.copytree(folder, tmp_path / "module"))

    return make


def describe(folder: Path, **changes: Any) -> None:
    """Change members of a description, and let it state the hashes of the files as they are."""
    path = folder / "module.json"
    document = {**json.loads(path.read_text()), **changes}
    for name in document["files"]:
        document["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(document))


def refusal(standin: Any, code: int, **settings: object) -> list[str]:
    """Return what the tool says of what it refuses, line by line."""
    done = standin.run(*VERIFY, **settings)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()


# The library and its devices.


def test_no_library_is_missing_and_named(standin: Any) -> None:
    standin.offer()
    first, *_ = refusal(standin, MISSING)
    assert first.startswith("xiokv: no HIP runtime: libamdhip64.so: cannot open")
    assert "install AMD's ROCm" in first
    assert "b'" not in first


@pytest.mark.parametrize("name", ["libamdhip64.so.5", "libamdhip64.so.6"])
def test_another_name_alone_is_missing_and_shown(standin: Any, name: str) -> None:
    standin.offer(name)
    first, *_ = refusal(standin, MISSING)
    assert f"there is only {standin.folder / 'lib' / name}:" in first


def test_no_device_is_missing(standin: Any) -> None:
    first, *_ = refusal(standin, MISSING, devices=0)
    assert first.startswith("xiokv: no AMD GPU: HIP finds none")


def load_device(number: int) -> str:
    from xiokv.runtime import MissingFault, load

    try:
        return load("hip", device=number).driver.name
    except MissingFault as fault:
        return str(fault)


def test_a_number_past_the_devices_is_missing(standin: Any) -> None:
    assert standin.call(load_device, 2, devices=2) == "no device 2: hip has 2, from 0 on"


def load_any() -> list[str]:
    from xiokv.runtime import load

    module = load()
    return [module.target, module.image.arch]


@pytest.mark.parametrize("arch", ["gfx942:sramecc+:xnack-", "gfx1100"])
def test_a_gpu_goes_before_the_host_and_its_code_is_compiled(
    standin: Any, tmp_path: Path, arch: str
) -> None:
    built(arch.split(":")[0])
    assert standin.call(load_any, arch=arch) == ["hip", arch.split(":")[0]]


@pytest.mark.parametrize("without", ["library", "device"])
def test_without_a_gpu_it_is_the_host(standin: Any, without: str) -> None:
    if without == "library":
        standin.offer()
    target, _ = standin.call(load_any, devices=0)
    assert target == "host"


# What is refused before any launch.


def used(standin: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: object) -> str:
    """Return the first line of the refusal of a module that the environment names."""
    monkeypatch.setenv("XIOKV_MODULE", str(folder))
    first, *more = refusal(standin, FAILURE, **settings)
    assert f"found by $XIOKV_MODULE: {folder}" in more
    return first


@pytest.mark.parametrize(
    ("arch", "device"),
    [
        ("gfx942", "gfx1100"),
        ("gfx942", "gfx90a:sramecc+:xnack-"),
        ("gfx942:xnack+", "gfx942:sramecc+:xnack-"),
    ],
)
def test_code_for_another_gpu_names_both(
    standin: Any, copy: Any, monkeypatch: pytest.MonkeyPatch, arch: str, device: str
) -> None:
    first = used(standin, copy(arch), monkeypatch, arch=device)
    assert f"was built for {arch}, and this device is {device}" in first


def test_a_truncated_file_is_not_loaded(standin: Any, copy: Any, monkeypatch: Any) -> None:
    folder = copy()
    (file,) = folder.glob("*.hsaco")
    file.write_bytes(file.read_bytes()[:5000])
    assert "is truncated or was changed" in used(standin, folder, monkeypatch)


def test_a_file_that_is_no_code_is_refused_by_the_library(
    standin: Any, copy: Any, monkeypatch: Any
) -> None:
    folder = copy()
    (file,) = folder.glob("*.hsaco")
    file.write_bytes(b"no code object")
    describe(folder)
    first = used(standin, folder, monkeypatch)
    assert f"{file} cannot be loaded: hipModuleLoadData: hipError" in first


@pytest.fixture
def outside(copy: Callable[..., Path]) -> Callable[..., Path]:
    """Return a function that makes a module with the given outside and nothing within."""

    def make(kernels: tuple[str, ...] = ("store", "retrieve"), **changes: Any) -> Path:
        folder = copy()
        (file,) = folder.glob("*.hsaco")
        names = {"abi": "xiokv_module_abi", "spec_name": "xiokv_module_spec", "bytes": 184}
        identity = {"version": abi.VERSION, "layout": abi.layout_hash(), "spec": SPEC}
        text = OUTSIDE % {**names, **identity, **changes}
        text += "".join(f"KERNEL xiokv_batch_{name}(const batch b) {{}}\n" for name in kernels)
        words = ("clang-19", *CODE, *CODE_OPTIONS, "--offload-arch=gfx942", "-", "-o", file)
        subprocess.run([*map(str, words)], input=text, text=True, check=True)
        commands = {name: {"kernel": f"xiokv_batch_{name}"} for name in ("store", "retrieve")}
        describe(folder, spec=SPEC, commands=commands)
        return folder

    return make


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 99}, f"has ABI version 99, the runtime {abi.VERSION}"),
        ({"layout": 0xABC}, f"(0000000000000abc) than the runtime does ({abi.layout_hash():016x})"),
        ({"spec": "6" * 64}, "holds spec 666666666666, its description says 555555555555"),
        ({"kernels": ("store",)}, "lacks xiokv_batch_retrieve"),
        ({"abi": "other"}, "lacks xiokv_module_abi"),
        ({"spec_name": "other"}, "lacks xiokv_module_spec"),
    ],
    ids=["version", "layout", "spec", "kernel", "abi symbol", "spec symbol"],
)
def test_a_module_that_does_not_fit_is_refused(
    standin: Any, outside: Any, monkeypatch: pytest.MonkeyPatch, changes: Any, said: str
) -> None:
    assert said in used(standin, outside(**changes), monkeypatch)


def load_named(folder: str) -> str:
    from xiokv.runtime import load

    return load(module=folder).description.spec


def test_a_module_whose_outside_fits_is_loaded(standin: Any, outside: Any) -> None:
    assert standin.call(load_named, str(outside())) == SPEC
