"""View for kv_exec.h: the encoder of the vendor command Exec.

In: the command and the spec. Out: the assignments of its entry, and what its comments say of
the length, of which a profile chooses the meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.codegen.render.c_commands import dwords
from xiokv.codegen.render.c_text import doc
from xiokv.codegen.spec.model import Command, FieldKind, Spec

_SAID = {
    FieldKind.PAYLOAD_LENGTH: "the length of key length, key and input together",
    FieldKind.INPUT_LENGTH: "the length of the input alone",
}


@dataclass(frozen=True, slots=True)
class ExecView:
    """What is printed of the encoder.

    Attributes:
        dwords: the 16 assignments of an entry.
        doc: the comment.
        counts_key: whether the length counts the key, too.
    """

    dwords: tuple[str, ...]
    doc: str
    counts_key: bool


def exec_view(command: Command, spec: Spec) -> ExecView:
    """Return the view of Exec."""
    (length,) = (field for field in command.fields if field.kind in _SAID)
    comment = doc(
        f"{command.brief} The raw form: it checks nothing.",
        f"CDW{length.dword} carries {_SAID[length.kind]}, as the profile chose. CID and data"
        " pointer are 0.",
        "@param nsid Namespace.",
        "@param key_length Bytes of the key, which lies in the data.",
        "@param input_length Bytes of the input, which follows the key.",
        "@param output_size Bytes that the output may have.",
        "@param operation What is to be done; its meaning is the controller's.",
        "@return The entry.",
    )
    return ExecView(dwords(command, spec), comment, length.kind is FieldKind.PAYLOAD_LENGTH)
