"""Is this a header at all: upstream bytes to text, and the license it states."""

from __future__ import annotations

import re

from xiokv.codegen.errors import XiokvError

_STATUS_LINE = re.compile(r"\d{3}:? ")
_SPDX = re.compile(
    r"SPDX-License-Identifier:[ \t]*([0-9A-Za-z.+()-]+(?: (?:AND|OR|WITH) [\w.+()-]+)*)"
)
_NO_SPDX = "NOASSERTION"


def header_text(path: str, body: bytes) -> str:
    """Return the bytes as text; an error where they are no header but an answer about one."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise XiokvError(f"{path}: not UTF-8 text: {error}") from error
    start = text.lstrip()
    if not start:
        raise XiokvError(f"{path}: the source gave an empty file")
    if start[0] == "<" or _STATUS_LINE.match(start):
        shown = start.splitlines()[0][:60]
        raise XiokvError(f"{path}: the source gave {shown!r} in place of a C header")
    return text


def spdx_id(text: str) -> str:
    """Return the SPDX expression that the text states; NOASSERTION where it states none."""
    match = _SPDX.search(text)
    return match[1] if match else _NO_SPDX
