"""Changes of one value in a xiokv.toml, which keep the user's comments and order.

In: the text of the file. Out: the text with another ``[upstream] ref``. What TOML can write
in more ways than are known here is refused rather than guessed at.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from xiokv.codegen.errors import XiokvError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SECTION = re.compile(r"^[ \t]*\[[ \t]*upstream[ \t]*\].*(?:\n|\Z)", re.MULTILINE)
_NEXT = re.compile(r"^[ \t]*\[", re.MULTILINE)
_REF = re.compile(r"""^([ \t]*ref[ \t]*=[ \t]*)(?:"[^"\\\n]*"|'[^'\n]*')""", re.MULTILINE)


def with_ref(text: str, ref: str) -> str:
    """Return the text of a xiokv.toml that names another ref.

    Raises:
        XiokvError: the text is written in a way that is not known here.
    """
    changed = _replaced(text, f'"{ref}"')
    wanted = _values(text)
    wanted["upstream"] = {**wanted.get("upstream", {}), "ref": ref}
    if _values(changed) != wanted:
        raise XiokvError(
            f'xiokv.toml: where it names the ref is not found; write ref = "{ref}" in its'
            " [upstream] yourself, and run this without --save-ref"
        )
    return changed


def _replaced(text: str, value: str) -> str:
    section = _SECTION.search(text)
    if section is None:
        return f"{text.rstrip()}\n\n[upstream]\nref = {value}\n".lstrip()
    start = section.end()
    following = _NEXT.search(text, start)
    end = following.start() if following else len(text)
    body, found = _REF.subn(lambda match: match[1] + value, text[start:end], count=1)
    head = text[:start] if text[:start].endswith("\n") else f"{text[:start]}\n"
    return head + (body if found else f"ref = {value}\n{body}") + text[end:]


def _values(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError:
        return {}
