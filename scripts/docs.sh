#!/usr/bin/env bash
# Sets up, then builds the documents as a site: the guides, the reference of C and Python,
# and the tables and pictures of the wire, which are made from the spec.
#
# Usage: scripts/docs.sh [--yes] [--project DIR] [--out DIR]
#   --project  describe the spec, the profile and the headers of that project; by default
#              of this repository
#   --out      where the site goes; by default build/docs/site
#   --yes      install missing Debian packages with sudo; root needs no --yes

set -euo pipefail
readonly start=$PWD
# shellcheck source-path=SCRIPTDIR source=lib/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/setup.sh"

# from_start PATH: print a path that the caller gave, as it is from anywhere.
from_start() {
    [[ $1 == /* ]] && echo "$1" || echo "$start/$1"
}

yes=no
project=$root
out=$root/build/docs/site
while (($# > 0)); do
    case $1 in
        --yes) yes=yes ;;
        --project | --out)
            (($# > 1)) || die 2 "$1 needs a folder" "$(usage)"
            [[ $1 == --out ]] && out=$(from_start "$2") || project=$(from_start "$2")
            shift
            ;;
        -h | --help) usage && exit ;;
        *) die 2 "unknown argument '$1'" "$(usage)" ;;
    esac
    shift
done
[[ -d $project ]] || die 2 "--project: there is no folder $project"

extra=docs
[[ ! -e $venv/xiokv-installed-dev ]] || extra=dev # which has all of docs
set_up "$yes" "$extra" "doxygen doxygen"
"$venv_python" -c 'import sphinx' 2>/dev/null ||
    die 5 "the site needs Python 3.11 or newer; .venv has an older one" \
        "Name another: PYTHON=python3.13 scripts/docs.sh"
"$venv/bin/xiokv-gen" --project "$project" check >/dev/null || exit
"$venv_python" -m sphinx --fail-on-warning --keep-going --nitpicky --quiet \
    -c docs/reference -d build/docs/doctrees -D "xiokv_project=$project" . "$out" ||
    die 1 "the site could not be built" "Change the places above"
echo "$out/index.html"
