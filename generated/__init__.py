"""What `xiokv-gen build` wrote for this distribution; only this file is hand-written."""
