"""Values of the embedded controller in a Ceph cluster; needs librados, and no Python package."""

from xiokv.runtime.rados.library import open_store
from xiokv.runtime.rados.url import MEMORY_ONLY, SCHEME, RadosUrl, refuse_memory_only

__all__ = ["MEMORY_ONLY", "SCHEME", "RadosUrl", "open_store", "refuse_memory_only"]
