"""The spec that the package brings along: what there is to read where no project is.

Out: the text of the spec file and, with the packaged semantics and the default profile, the
validated `Spec`.
"""

from __future__ import annotations

from importlib import resources

from xiokv.codegen.errors import XiokvError

SHOWN = "the bundled spec"


def bundled_text() -> str:
    """Return the text of the bundled spec file."""
    shipped = resources.files("xiokv.generated") / "spec" / "nvme_kv.json"
    try:
        return shipped.read_text(encoding="utf-8")
    except OSError as error:
        raise XiokvError(f"{shipped} cannot be read: {error.strerror}; reinstall xiokv") from error
