"""From how long a context on it pays to fetch KV-cache blocks instead of computing them again."""
