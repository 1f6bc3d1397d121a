"""The subcommands of xiokv, one module each."""
