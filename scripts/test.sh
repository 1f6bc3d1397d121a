#!/usr/bin/env bash
# Sets up, lints, then runs the tests; the last line printed is pytest's own.
#
# Usage: scripts/test.sh [quick] [--yes] [pytest arguments...]
#   quick   leave out the tests marked slow
#   --yes   install missing Debian packages with sudo; root needs no --yes

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/setup.sh"

readonly packages=(
    "git git"
    "gcc gcc"
    "g++ g++"
    "cmake cmake"
    "ninja ninja-build"
    "make make"
    "pkg-config pkg-config"
    "clang-19 clang-19"
    "ld.lld-19 lld-19"
    "llvm-objdump-19 llvm-19"
    "doxygen doxygen"
    "/usr/lib/llvm-19/lib/clang/19/lib/linux libclang-rt-19-dev"
)
readonly ceph_packages=(
    "ceph-mon ceph-mon"
    "ceph-osd ceph-osd"
    "ceph ceph-common"
    "/usr/include/rados/librados.hpp libradospp-dev"
)

# lint HINT COMMAND...: run a linter of the virtual environment; stop if it complains.
lint() {
    local hint=$1
    shift
    "$venv/bin/$1" "${@:2}" || die 1 "lint failed ($1), no test was run" "$hint"
}

lint_all() {
    shopt -s globstar nullglob
    local shell_files=(scripts/*.sh scripts/lib/*.sh templates/project/*.sh .ci/run)
    local c_files=({templates/static,runtime}/**/*.{h,hpp,c,cpp,hip,cu})
    lint "Try: .venv/bin/ruff check --fix" ruff check --quiet
    lint "Run: .venv/bin/ruff format" ruff format --check --quiet
    lint "Change the places above" mypy --no-error-summary
    lint "Change the places above" shellcheck -x "${shell_files[@]}"
    ((${#c_files[@]} == 0)) ||
        lint "Run: .venv/bin/clang-format -i FILE" clang-format --dry-run -Werror "${c_files[@]}"
}

yes=no
selection=()
while (($# > 0)); do
    case $1 in
        quick) selection=(-m "not slow") ;;
        --yes) yes=yes ;;
        -h | --help) usage && exit ;;
        *) break ;;
    esac
    shift
done

set_up "$yes" dev "${packages[@]}"
set_up_optional "$yes" "Ceph, whose tests are skipped" "${ceph_packages[@]}"
lint_all
# The hundreds of processes that tests start take modules as they were compiled once.
unset PYTHONDONTWRITEBYTECODE
exec "$venv_python" -m pytest -n auto --dist loadgroup "${selection[@]}" "$@"
