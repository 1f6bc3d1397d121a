"""The subcommands of xiokv-gen, one module each."""
