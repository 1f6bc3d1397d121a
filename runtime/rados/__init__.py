"""Values of the embedded controller in a Ceph cluster; needs librados, and no Python package."""

from xiokv.runtime.rados.library import open_store
from xiokv.runtime.rados.url import SCHEME, RadosUrl

__all__ = ["SCHEME", "RadosUrl", "open_store"]
