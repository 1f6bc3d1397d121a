#!/usr/bin/env bash
# Sets up, tells whether the generated files are current, compiles the module that runs on
# this machine's processor, and stores and retrieves blocks through it on the embedded
# controller, comparing every byte. No device is needed, and a network only to set up.
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

set_up "$yes" "" "g++ g++"
"$venv/bin/xiokv-gen" check
"$venv/bin/xiokv-gen" build
"$venv/bin/xiokv" verify
