"""Load a compiled module, own queues, move blocks by key."""
