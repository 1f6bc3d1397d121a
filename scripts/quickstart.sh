#!/usr/bin/env bash
# Sets up, tells whether the generated files are current, and renders them from the
# committed spec into a temporary folder: no network, device or compiler is used for that.
#
# Usage: scripts/quickstart.sh [--yes]
#   --yes   install missing Debian packages with sudo; root needs no --yes

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/setup.sh"

yes=no
for argument in "$@"; do
    case $argument in
        --yes) yes=yes ;;
        -h | --help) usage && exit ;;
        *) die 2 "unknown argument '$argument'" "$(usage)" ;;
    esac
done

set_up "$yes" ""
out=$(mktemp -d)
trap 'rm -rf -- "$out"' EXIT

"$venv/bin/xiokv-gen" check
"$venv/bin/xiokv-gen" build --emit-only --out "$out" >/dev/null
echo "Made from generated/spec/nvme_kv.json (bytes, file):"
(cd -- "$out" && find . -type f -printf '%8s  %P\n' | sort -k 2)
