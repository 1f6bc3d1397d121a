"""Hand-written facts that no header states, as TOML, and their typed readers."""
