#!/usr/bin/env bash
# Sets up, then measures: figures of this machine, each beside another of the same run.
#
# Usage: scripts/bench.sh [--yes] [--json] [--tiny] [NAME...]
#   NAME    generator, parse, encoder, engine or calls; all without any
#   --json  print one JSON object
#   --tiny  sizes that show that the programs run, and no more
#   --yes   install missing Debian packages with sudo; root needs no --yes

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/setup.sh"

readonly packages=("gcc gcc" "g++ g++" "clang-19 clang-19")

yes=no
arguments=()
for argument in "$@"; do
    case $argument in
        --yes) yes=yes ;;
        -h | --help) usage && exit ;;
        *) arguments+=("$argument") ;;
    esac
done

set_up "$yes" "" "${packages[@]}"
exec "$venv_python" scripts/bench "${arguments[@]}"
