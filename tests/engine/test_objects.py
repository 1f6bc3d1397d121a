"""Object files are kept, and compiled anew when anything that goes into one changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import native

pytestmark = pytest.mark.skipif(not native.is_there(), reason="g++ is not installed")


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a unit that includes a header by a macro's name."""
    monkeypatch.setattr(native, "KEPT", tmp_path / "kept")
    (tmp_path / "number.h").write_text("inline int number() { return 1; }\n")
    unit = tmp_path / "unit.cpp"
    unit.write_text("#include HEADER\nint twice() { return 2 * number(); }\n")
    return unit


def compiled(unit: Path, *flags: str) -> Path:
    return native.compiled(unit, "-O1", '-DHEADER="number.h"', *flags)


def test_an_object_is_compiled_once(unit: Path) -> None:
    first = compiled(unit)
    made = first.stat()
    assert compiled(unit) == first
    assert first.stat() == made


@pytest.mark.parametrize("name", ["unit.cpp", "number.h"])
def test_a_changed_text_is_compiled_anew(unit: Path, name: str) -> None:
    first = compiled(unit)
    path = unit.with_name(name)
    path.write_text(path.read_text().replace("return", "return 3 +"))
    again = compiled(unit)
    assert again != first
    assert again.read_bytes() != first.read_bytes()


@pytest.mark.parametrize("flag", ["-O2", "-g", "-fsanitize=thread", "-DOTHER"])
def test_another_flag_is_compiled_anew(unit: Path, flag: str) -> None:
    assert compiled(unit, flag) != compiled(unit)
