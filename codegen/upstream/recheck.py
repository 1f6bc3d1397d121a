"""Whether upstream, at the locked commit, still says what the lock says.

In: a project's `Config`. Out: findings; the lock and the spec file stay as they are.
"""

from __future__ import annotations

from xiokv.codegen.config import Config
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.spec.load import lock_of, shown_path
from xiokv.codegen.staleness import Finding
from xiokv.codegen.upstream.update import prepare


def find_upstream(config: Config) -> list[Finding]:
    """Fetch the locked commit again and compare its files and definitions with the lock."""
    lock = lock_of(config)
    if not lock.commit:
        raise XiokvError(
            "xiokv.lock states no commit: the spec was read from a plain folder;"
            " run xiokv-gen fetch to pin it, then check --upstream"
        )
    update = prepare(config, lock.commit, None)
    if update.lock.ir_sha256 == lock.ir_sha256:
        return []
    changes = update.changes.lines() if update.changes else []
    message = f"upstream at commit {lock.commit} defines something else"
    shown = shown_path(config, config.ir_path)
    return [Finding(shown, "changed", message, "xiokv-gen fetch", diff="\n".join(changes))]
