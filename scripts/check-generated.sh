#!/usr/bin/env bash
# Tells whether the files that xiokv-gen generated in the repository of the working folder
# are current; what the GitHub action runs. Nothing is written, and nothing installed:
# xiokv-gen has to be on the PATH.
#
# Usage: check-generated.sh [FOLDER]
#   FOLDER   where the xiokv.toml is; else the nearest one, from the working folder upward
#
# Exit codes are those of xiokv-gen: 3 where files are stale, 5 where xiokv is missing.

set -euo pipefail

# complain CODE LINE...: leave with a message, which GitHub shows as an error.
complain() {
    local code=$1
    shift
    printf '%s\n' "check-generated.sh: $1" "${@:2}" >&2
    [[ -z ${GITHUB_ACTIONS:-} ]] || echo "::error::$1"
    exit "$code"
}

(($# <= 1)) || complain 2 "one folder at most, not $#: check-generated.sh [FOLDER]"
command -v xiokv-gen >/dev/null ||
    complain 5 "there is no xiokv-gen on the PATH; install xiokv first, and run this again:" \
        "    python -m pip install $(printf %q "$(realpath -- "$(dirname -- "$0")/..")")"

project=()
[[ -z ${1:-} ]] || project=(--project "$1")
format=text
[[ -z ${GITHUB_ACTIONS:-} ]] || format=github
exec xiokv-gen "${project[@]}" check --format "$format"
