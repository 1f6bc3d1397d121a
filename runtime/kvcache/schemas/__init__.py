"""JSON Schemas of the documents, a file each: `xiokv.runtime.kvcache.schema` writes them."""
