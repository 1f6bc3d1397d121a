"""Whether upstream still says what the lock says, and what a bump of the ref would change.

In: a project's `Config`. Out: findings; the lock and the spec file stay as they are.
"""

from __future__ import annotations

from xiokv.codegen.config import BUNDLED, Config
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.lock import Lock
from xiokv.codegen.spec.load import lock_of, shown_path
from xiokv.codegen.staleness import Finding
from xiokv.codegen.upstream.update import Update, prepare


def find_upstream(config: Config) -> list[Finding]:
    """Fetch again and compare definitions with the lock's.

    What is fetched is the locked commit, or the ref of xiokv.toml where it is another than
    the locked one: then the findings are what a fetch would change.
    """
    lock = lock_of(config)
    wanted = config.upstream.ref
    if wanted not in (lock.ref, lock.commit, BUNDLED):
        update = prepare(config, wanted, None)
        commit = update.lock.commit
        name = commit if wanted == commit else f"{wanted} = {commit}"
        return _findings(config, lock, update, f"{name}, which xiokv.toml names,")
    if not lock.commit:
        raise XiokvError(
            "xiokv.lock states no commit: the spec was read from a plain folder;"
            " run xiokv-gen fetch to pin it, then check --upstream"
        )
    update = prepare(config, lock.commit, None)
    return _findings(config, lock, update, f"commit {lock.commit}")


def _findings(config: Config, lock: Lock, update: Update, at: str) -> list[Finding]:
    if update.lock.ir_sha256 == lock.ir_sha256:
        return []
    changes = update.changes.lines() if update.changes else []
    breaking = ", in a way that breaks users" if update.breaking else ""
    message = f"upstream at {at} defines something else{breaking}"
    shown = shown_path(config, config.ir_path)
    return [Finding(shown, "changed", message, "xiokv-gen fetch", diff="\n".join(changes))]
