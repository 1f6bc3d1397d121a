"""A geometry as a TOML file: its text in, a checked `Geometry` out.

Those that come along lie in `models/`, and a user's own has the same form.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kvcache.breakeven.geometry import (
    STATE_DTYPES,
    Geometry,
    GroupedQuery,
    Latent,
    Recurrent,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEMA = 1
CONTEXT_MAX = 1 << 22

_FOLDER = Path(__file__).parent / "models"
# So that no product of them is too large for 64 bits.
_COUNT_MAX = 1 << 20
_ELEMENTS_MAX = 1 << 30
_ELEMENT_FLOPS_MAX = 1 << 10
_PARAMETERS_MAX = 1 << 50
_TOKEN_BYTES_MAX = 1 << 30
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_TEXT_MAX = 200
_KINDS: Mapping[str, type[GroupedQuery] | type[Latent]] = {
    "grouped-query": GroupedQuery,
    "latent": Latent,
}
_TOP = ("schema", "name", "title", "source", "context", "active_parameters", "attention")


def known() -> dict[str, Geometry]:
    """Return the geometries that come along, by name."""
    found = [read(path) for path in sorted(_FOLDER.glob("*.toml"))]
    return {geometry.name: geometry for geometry in found}


def select(names: Sequence[str], files: Sequence[Path]) -> list[Geometry]:
    """Return geometries by name and from files; with neither, all that come along.

    Raises:
        ArgumentFault: there is no such model, or two have one name.
        RuntimeFault: a file holds no geometry.
    """
    there = known()
    for name in names:
        if name not in there:
            raise ArgumentFault(f"--model: no model {name!r}{_instead(name, there)}")
    chosen = [there[name] for name in dict.fromkeys(names)]
    for path in files:
        geometry = read(path)
        if geometry.name in (*there, *(other.name for other in chosen)):
            raise ArgumentFault(f"{path}: another model is called {geometry.name!r}; rename it")
        chosen.append(geometry)
    return chosen or list(there.values())


def read(path: Path) -> Geometry:
    """Return the geometry that a file holds.

    Raises:
        RuntimeFault: it holds none; the message names the file, the key and what is allowed.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RuntimeFault(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RuntimeFault(f"{path} is not TOML: {error}") from error
    return _geometry(_Table(path, "", document))


def _geometry(top: _Table) -> Geometry:
    top.check_keys(_TOP, ("recurrent",))
    if top.whole("schema") != SCHEMA:
        top.refuse("schema", f"this version of xiokv reads {SCHEMA}")
    if not _NAME.fullmatch(top.text("name")):
        top.refuse("name", "lower-case letters, digits, dots and dashes are allowed, up to 64")
    geometry = Geometry(
        name=top.text("name"),
        title=top.text("title"),
        source=top.text("source"),
        context=top.whole("context", CONTEXT_MAX),
        active_parameters=top.whole("active_parameters", _PARAMETERS_MAX),
        attention=_attention(top.table("attention")),
        recurrent=_recurrent(top.table("recurrent")) if "recurrent" in top.values else None,
    )
    size = geometry.token_bytes("bf16")
    if size > _TOKEN_BYTES_MAX:
        top.refuse("attention", f"a token has {size} bytes; up to {_TOKEN_BYTES_MAX} are allowed")
    return geometry


def _attention(table: _Table) -> GroupedQuery | Latent:
    table.check_keys(("kind",), tuple(table.values))
    kind = _KINDS[table.choice("kind", _KINDS)]
    names = tuple(name for name in kind.__dataclass_fields__)
    table.check_keys(("kind", *names))
    made = kind(**{name: table.whole(name) for name in names})
    if isinstance(made, GroupedQuery) and made.query_heads % made.kv_heads:
        table.refuse("kv_heads", f"it has to divide query_heads, which is {made.query_heads}")
    if isinstance(made, Latent) and made.key_dim < made.rope_dim:
        table.refuse("key_dim", f"it holds the rotated part, rope_dim, which is {made.rope_dim}")
    return made


def _recurrent(table: _Table) -> Recurrent:
    table.check_keys(tuple(Recurrent.__dataclass_fields__))
    return Recurrent(
        layers=table.whole("layers"),
        state_elements=table.whole("state_elements", _ELEMENTS_MAX),
        state_dtype=table.choice("state_dtype", STATE_DTYPES),
        conv_elements=table.whole("conv_elements", _ELEMENTS_MAX, least=0),
        conv_dtype=table.choice("conv_dtype", STATE_DTYPES),
        flops_per_element=table.whole("flops_per_element", _ELEMENT_FLOPS_MAX, least=0),
    )


def _instead(name: str, allowed: Mapping[str, Any] | Sequence[str]) -> str:
    near = get_close_matches(name, list(allowed), n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]}?" if near else ";"
    return f"{meant} (allowed: {', '.join(allowed)})"


class _Table:
    """A table of the file; every fault names the file and the key."""

    def __init__(self, path: Path, name: str, values: Any) -> None:
        self._path = path
        self._prefix = f"{name}." if name else ""
        self.values: dict[str, Any] = values

    def check_keys(self, needed: Sequence[str], more: Sequence[str] = ()) -> None:
        """Refuse keys that mean nothing, then those that are missing."""
        allowed = list(dict.fromkeys((*needed, *more)))
        for key in self.values:
            if key not in allowed:
                self._stop(f"no key {self._prefix}{key}{_instead(key, allowed)}")
        missing = [f"{self._prefix}{key}" for key in needed if key not in self.values]
        if missing:
            self._stop(f"{', '.join(missing)} missing; add {'them' if missing[1:] else 'it'}")

    def table(self, key: str) -> _Table:
        return _Table(self._path, key, self._typed(key, dict, "a table"))

    def text(self, key: str) -> str:
        text: str = self._typed(key, str, "a text")
        if not text.isprintable() or not 1 <= len(text) <= _TEXT_MAX:
            self.refuse(key, f"1 to {_TEXT_MAX} printable characters are allowed")
        return text

    def choice(self, key: str, allowed: Mapping[str, Any]) -> str:
        text = self.text(key)
        if text not in allowed:
            self._stop(f"{self._prefix}{key} is {text!r}{_instead(text, allowed)}")
        return text

    def whole(self, key: str, most: int = _COUNT_MAX, least: int = 1) -> int:
        number: int = self._typed(key, int, "a whole number")
        if not least <= number <= most:
            self.refuse(key, f"{least} to {most} is allowed")
        return number

    def refuse(self, key: str, allowed: str) -> NoReturn:
        self._stop(f"{self._prefix}{key} is {self.values[key]!r}; {allowed}")

    def _typed(self, key: str, kind: Callable[..., Any], what: str) -> Any:
        value = self.values[key]
        if type(value) is not kind:
            self.refuse(key, f"{what} is needed")
        return value

    def _stop(self, what: str) -> NoReturn:
        raise RuntimeFault(f"{self._path}: {what}")
