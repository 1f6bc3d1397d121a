#!/usr/bin/env bash
# Moves this project to SPDK's newest release, on a branch, and opens a pull request for it.
#
# Usage: xiokv-outdated.sh [options of xiokv-gen outdated...]
#
# Does nothing where the lock is up to date, or where the branch is there already: its pull
# request is open, or was closed because nobody wants the release. Delete the branch to be
# asked again. What breaks users is in the report, and is accepted by merging.

set -euo pipefail

report=$(mktemp)
trap 'rm -f -- "$report"' EXIT

# outdated FORMAT [options...]: say how the lock stands; 0, 3 and 4 are answers, not failures.
outdated() {
    local format=$1 code=0
    shift
    xiokv-gen outdated --format "$format" "$@" || code=$?
    case $code in
        0 | 3 | 4) ;;
        *) return "$code" ;;
    esac
}

# answer NAME: print one member of the answer.
answer() {
    python -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1" <<<"$answer"
}

answer=$(outdated json "$@")
if [[ $(answer outdated) != True ]]; then
    echo "up to date"
    exit
fi
ref=$(answer newest)
branch=xiokv/spdk-$ref
found=0
git ls-remote --exit-code --heads origin "refs/heads/$branch" >/dev/null || found=$?
case $found in
    0) echo "the branch $branch is there already" && exit ;;
    2) ;; # there is no such branch
    *) exit "$found" ;;
esac
title="Move to SPDK $ref"
if [[ $(answer breaking) == True ]]; then
    title+=" (breaking)"
fi
outdated markdown "$@" >"$report"

# Of the options of outdated, fetch takes --from alone.
source=()
while (($# > 0)); do
    case $1 in
        --from) source=(--from "$2") && shift ;;
        --from=*) source=("$1") ;;
    esac
    shift
done
xiokv-gen fetch --ref "$ref" --save-ref --accept ${source[@]+"${source[@]}"}
xiokv-gen build --emit-only

git switch --quiet --create "$branch"
git add --all .
git -c user.name="github-actions[bot]" \
    -c user.email="41898282+github-actions[bot]@users.noreply.github.com" \
    commit --quiet --message "$title"
git push --quiet origin "$branch"
if ! gh pr create --title "$title" --body-file "$report" --head "$branch"; then
    git push --quiet --delete origin "$branch" # else nobody would be asked again
    exit 1
fi
