"""Where upstream text comes from: HTTPS, a git directory, a folder, the bundled spec."""
