#!/usr/bin/env bash
# Set-up shared by the scripts of the folder above; sourced, never run.
#
# In:  the repository around this file; PYTHON, an interpreter to use (optional).
# Out: $script, the script that was called; $root, also the working folder; the functions.
# Exit codes are those of xiokv-gen: 1 failure, 2 usage, 5 something is missing.
set -euo pipefail

script=$(realpath -- "$0")
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." >/dev/null && pwd -P)
cd -- "$root"
readonly script root venv=$root/.venv
readonly venv_python=$venv/bin/python

# die CODE LINE...: leave with a message.
die() {
    local code=$1
    shift
    printf '%s\n' "${script##*/}: $1" "${@:2}" >&2
    exit "$code"
}

# usage: print the script's own header, from its second line to the first empty one.
usage() {
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script"
}

# install_packages YES PACKAGE...: list the Debian packages, then install them, which
# takes root, or YES=yes and sudo.
install_packages() {
    local yes=$1
    shift
    local install=(apt-get install -y --no-install-recommends "$@") as_root=()
    echo "${script##*/}: missing Debian packages: $*" >&2
    command -v apt-get >/dev/null ||
        die 5 "no apt-get here; install what these packages hold by this system's own means"
    if ((EUID != 0)); then
        [[ $yes == yes ]] || die 5 "run this, or run again with --yes:" "    sudo ${install[*]}"
        command -v sudo >/dev/null || die 5 "no sudo here; run as root:" "    ${install[*]}"
        as_root=(sudo)
    fi
    { "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" -qq; } ||
        die 5 "the packages could not be installed; see apt-get's message above"
}

# find_python: print the real path of a Python that is new enough. Candidates are run, not
# only looked up: a version manager's shim may name a version that is not installed.
find_python() {
    local name names=(python3 python3.13 python3.12 python3.11 python3.10)
    [[ -z ${PYTHON:-} ]] || names=("$PYTHON")
    for name in "${names[@]}"; do
        "$name" -c '
import os, sys
if sys.version_info < (3, 10):
    sys.exit(1)
print(os.path.realpath(sys.executable))' 2>/dev/null && return
    done
    return 1
}

# missing_for_python PYTHON: print the packages needed to make a virtual environment with
# that interpreter; with none, those of Debian's own.
missing_for_python() {
    if [[ -z $1 ]]; then
        printf '%s\n' python3 python3-venv
    elif ! "$1" -c 'import ensurepip' 2>/dev/null; then
        "$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
    fi
}

# missing_packages "PROBE PACKAGE"...: print the packages whose probe, a command or a path,
# is not there.
missing_packages() {
    local entry
    for entry in "$@"; do
        local probe=${entry% *} package=${entry#* }
        command -v "$probe" >/dev/null || [[ -e $probe ]] || echo "$package"
    done
}

# set_up_optional YES WHAT ["PROBE PACKAGE"...]: install what is missing of the packages, and
# go on without WHAT where they cannot be had.
set_up_optional() {
    local yes=$1 what=$2 missing
    mapfile -t missing < <(missing_packages "${@:3}")
    ((${#missing[@]} == 0)) || (install_packages "$yes" "${missing[@]}") ||
        echo "${script##*/}: going on without $what" >&2
}

# make_venv PYTHON EXTRA: make .venv and install this checkout into it, editable. Nothing is
# done while the stamps say that this root, interpreter and pyproject.toml were installed.
# An environment made for another root or interpreter is made anew.
make_venv() {
    local python=$1 extra=$2 made_for wanted
    made_for="$root $python $("$python" -V)"
    wanted=$(sha256sum <pyproject.toml)
    if [[ ! -x $venv_python ]] ||
        [[ -e $venv/xiokv-made-for && $(<"$venv/xiokv-made-for") != "$made_for" ]]; then
        "$python" -m venv --clear "$venv"
    fi
    local stamp=$venv/xiokv-installed${extra:+-$extra}
    if [[ ! -e $venv/xiokv-made-for || ! -e $stamp || $(<"$stamp") != "$wanted" ]]; then
        rm -f "$venv"/xiokv-*
        "$venv_python" -m pip install --quiet --disable-pip-version-check \
            --editable ".${extra:+[$extra]}" ||
            die 1 "pip could not install the dependencies; see its message above"
        echo "$wanted" | tee "$venv/xiokv-installed" >"$stamp"
        echo "$made_for" >"$venv/xiokv-made-for"
    fi
}

# set_up YES EXTRA ["PROBE PACKAGE"...]: the packages, Python among them, then .venv with
# the dependencies of EXTRA, which may be empty.
set_up() {
    local yes=$1 extra=$2 python missing
    shift 2
    python=$(find_python) || python=
    [[ -n $python || -z ${PYTHON:-} ]] || die 5 "PYTHON=$PYTHON is not a Python 3.10 or newer"
    mapfile -t missing < <(missing_for_python "$python" && missing_packages "$@")
    ((${#missing[@]} == 0)) || install_packages "$yes" "${missing[@]}"
    [[ -n $python ]] || python=$(find_python) ||
        die 5 "Python 3.10 or newer is needed; this system's is older"
    make_venv "$python" "$extra"
}
