"""Proof of the layout by a C compiler: the facts against ``offsetof`` and ``sizeof``.

A program that includes the upstream texts prints every size, place and value; each must
be that of the facts. The facts never come from here: without a compiler, or where the
texts need headers that are not there, the same facts stand, unproved.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xiokv.codegen.errors import Problems, XiokvError
from xiokv.codegen.facts import Facts, Field, Record

_COMPILERS = ("cc", "gcc", "clang")
_TIMEOUT_SECONDS = 60
_STUBS = {
    "spdk/stdinc.h": "#include <stdint.h>\n#include <stddef.h>\n#include <stdbool.h>\n",
    "spdk/assert.h": "#define SPDK_STATIC_ASSERT(cond, msg) _Static_assert(cond, msg)\n",
    "spdk/nvme.h": "struct spdk_nvme_cpl;\n"
    "typedef void (*spdk_nvme_cmd_cb)(void *, const struct spdk_nvme_cpl *);\n",
}
_HELPERS = r"""
#include <stdio.h>
#include <string.h>
static void say(const char *what, unsigned long long value) { printf("%s=%llu\n", what, value); }
static void say_bits(const char *what, const void *record, size_t size) {
  const unsigned char *byte = record;
  unsigned long long first = 0, count = 0;
  for (size_t bit = size * 8; bit-- > 0;)
    if (byte[bit / 8] >> bit % 8 & 1) { first = bit; count++; }
  printf("%s place=%llu\n%s width=%llu\n", what, first, what, count);
}
"""


def prove_layout(facts: Facts, texts: Mapping[str, str]) -> str:
    """Compare the facts with what a C compiler makes of the texts; return a line to print.

    Raises:
        XiokvError: the compiler disagrees; both values are named.
    """
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        return (
            f"layout: no C compiler found (looked for {', '.join(_COMPILERS)}); "
            "not proved a second time, the facts are the same"
        )
    name = Path(compiler).name
    with tempfile.TemporaryDirectory(prefix="xiokv-probe-") as folder:
        probe = _Probe(Path(folder), compiler, texts)
        fault = probe.compile("int main(void) { return 0; }\n")
        if "static assert" in fault.replace("_", " "):
            raise XiokvError(f"{name} refuses a static assert that holds by the parser: {fault}")
        if fault:
            return f"layout: not proved, {name} cannot read the headers by themselves ({fault})"
        expected = list(_expectations(facts))
        fault = probe.compile(_program(expected))
        if fault:
            raise XiokvError(f"{name} does not find in the headers what the parser found: {fault}")
        _compare(expected, probe.run(), name)
    return f"layout: proved by {name} ({len(expected)} sizes, places and values)"


@dataclass(frozen=True, slots=True)
class _Expectation:
    """A statement that prints lines, and the values expected on them."""

    statement: str
    values: Mapping[str, int]


class _Probe:
    """A folder with the texts, stubs for what they include, and a program."""

    def __init__(self, folder: Path, compiler: str, texts: Mapping[str, str]) -> None:
        self._folder = folder
        self._compiler = compiler
        self._includes = "".join(f'#include "{path}"\n' for path in sorted(texts))
        stubs = {f"stubs/{path}": text for path, text in _STUBS.items()}
        for path, text in {**stubs, **texts}.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def compile(self, body: str) -> str:
        """Compile a program behind the includes; return the compiler's first error line."""
        source = self._folder / "probe.c"
        head = "".join(f'#include "{path}"\n' for path in _STUBS)
        source.write_text(head + self._includes + _HELPERS + body, encoding="utf-8")
        flags = ["-std=gnu11", "-w", "-O0", "-I", "stubs", "-I", "include", "-I", "."]
        result = self._call([self._compiler, *flags, "-o", "probe", source.name])
        if result.returncode == 0:
            return ""
        lines = [line for line in result.stderr.splitlines() if "error" in line]
        return lines[0] if lines else f"exit status {result.returncode}"

    def run(self) -> dict[str, int]:
        """Run the program and read the lines it prints."""
        result = self._call([str(self._folder / "probe")])
        pairs = (line.rpartition("=") for line in result.stdout.splitlines())
        return {name: int(value) for name, _, value in pairs}

    def _call(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command,
                cwd=self._folder,
                env={**os.environ, "LC_ALL": "C"},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise XiokvError(f"the layout probe failed: {error}") from error


def _expectations(facts: Facts) -> Iterator[_Expectation]:
    for constant in facts.constants:
        yield _value(constant.name, constant.value)
    for enum in facts.enums:
        for enumerator in enum.enumerators:
            yield _value(enumerator.name, enumerator.value)
    for record in facts.records:
        name = f"{record.kind} {record.name}"
        yield _value(f"sizeof({name})", record.size)
        yield _value(f"_Alignof({name})", record.align)
        for path, field, offset in _members(record):
            yield _member(name, path, field, offset)


def _value(expression: str, value: int) -> _Expectation:
    statement = f'say("{expression}", (unsigned long long)({expression}));'
    return _Expectation(statement, {expression: value % (1 << 64)})


def _member(record: str, path: str, field: Field, offset: int) -> _Expectation:
    """Fill a member with ones, and find them in the record."""
    label = f"{record}.{path}"
    fill = f"r.{path} = -1;" if field.bitfield else f"memset(&r.{path}, 255, sizeof(r.{path}));"
    statement = (
        f'{{ {record} r; memset(&r, 0, sizeof(r)); {fill} say_bits("{label}", &r, sizeof(r)); }}'
    )
    width = field.width
    for length in field.dims:
        width *= length
    return _Expectation(statement, {f"{label} place": offset, f"{label} width": width})


def _members(record: Record, prefix: str = "", base: int = 0) -> Iterator[tuple[str, Field, int]]:
    """Yield (C access path, member, bit offset); of an array, the first element is entered."""
    for field in record.fields:
        path, offset = f"{prefix}{field.name}", base + field.offset
        is_flexible = 0 in field.dims
        if field.name and not is_flexible:
            yield path, field, offset
        if isinstance(field.type, Record) and not is_flexible:
            element = path + "[0]" * len(field.dims)
            yield from _members(field.type, f"{element}." if field.name else prefix, offset)


def _program(expected: Sequence[_Expectation]) -> str:
    body = "\n".join(expectation.statement for expectation in expected)
    return f"int main(void) {{\n{body}\nreturn 0; }}\n"


def _compare(expected: Sequence[_Expectation], seen: Mapping[str, int], name: str) -> None:
    problems = Problems()
    for expectation in expected:
        for label, value in expectation.values.items():
            if seen.get(label) != value:
                problems.add(
                    XiokvError(f"layout: {label} is {value} here but {seen.get(label)} by {name}")
                )
    problems.raise_if_any()
