"""KV-cache blocks: found by a planner, accepted by a backend, moved by key."""
