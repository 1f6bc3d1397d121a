"""The ref written into a xiokv.toml: one value changes, in whatever form it was written."""

from __future__ import annotations

import sys

import pytest

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.tomledit import with_ref

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KNOWN = {
    "as init writes it": (
        '# head\n[upstream]\n# ref = "no"\nref = "bundled"  # why\n\n[output]\ndir = "g"\n',
        '# head\n[upstream]\n# ref = "no"\nref = "v2"  # why\n\n[output]\ndir = "g"\n',
    ),
    "literal string": ("[ upstream ]\n  ref='a'\n", '[ upstream ]\n  ref="v2"\n'),
    "no ref": ("[upstream]\nfiles = []\n", '[upstream]\nref = "v2"\nfiles = []\n'),
    "no ref, then another ref": (
        "[upstream]\n[other]\nref = 'x'\n",
        "[upstream]\nref = \"v2\"\n[other]\nref = 'x'\n",
    ),
    "no section": ("[output]\ndir = 'g'\n", "[output]\ndir = 'g'\n\n[upstream]\nref = \"v2\"\n"),
    "nothing": ("", '[upstream]\nref = "v2"\n'),
    "no newline at the end": ("[upstream]", '[upstream]\nref = "v2"\n'),
}


@pytest.mark.parametrize(("before", "after"), KNOWN.values(), ids=KNOWN)
def test_the_ref_alone_changes(before: str, after: str) -> None:
    assert with_ref(before, "v2") == after
    assert with_ref(after, "v2") == after


@pytest.mark.parametrize(
    "text",
    [
        'upstream = { ref = "a" }\n',
        'upstream.ref = "a"\n',
        '["upstream"]\nref = "a"\n',
        '[upstream]\n"ref" = "a"\n',
        '[upstream]\nurl = """\nref = \'a\'\n"""\n',
    ],
)
def test_a_form_that_is_not_known_is_left_to_the_user(text: str) -> None:
    tomllib.loads(text)  # each is TOML
    with pytest.raises(XiokvError, match=r'write ref = "v2" in its \[upstream\] yourself'):
        with_ref(text, "v2")
