"""The commands as the runtime names them: an `Operation`, never a word.

Words come from outside, a command line or a module's description, and become operations
where they are read.
"""

from __future__ import annotations

from xiokv.generated.nvme_kv import Operation as Operation
