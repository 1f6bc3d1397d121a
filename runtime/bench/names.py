"""Names that tables, goals and charts have in common."""

from __future__ import annotations

ENGINE = "engine"
REFERENCE = "reference"
LEAN = "reference, lean fences"
EACH = "thread per command"
CLIENT = "CPU client"
RADOS_BENCH = "rados bench"
RUNTIME = "xiokv"

PING_PONG = "ping-pong"
NOTHING = "empty launch"
ENGINE_ALONE = "engine, less an empty launch"

NULL = "null controller"
FULL = "full controller, 4 KiB"

#: Bytes of a value where the setting is `FULL`.
VALUE_BYTES = 4096
