#!/usr/bin/env bash
# Fetches SPDK's include/spdk/nvme_spec.h at the commit that xiokv.lock pins, proves its
# SHA-256, and writes it as OUTPUT_DIR/spdk-nvme_spec.h, whole or not at all. A file that is
# there already and is the locked one is kept, and no network is asked.
#
# Usage: fetch-spdk-kv-headers.sh [--lock FILE] OUTPUT_DIR
#   --lock FILE   the lock; else $XIOKV_LOCK, else the nearest xiokv.lock, upward from this
#                 script's folder and not past the root of a git repository
#
# Needs bash, curl and the core utilities, and nothing of xiokv but its lock: copy it into
# any repository that has one. Exit codes: 0 fine, 1 failure, 2 usage, 5 a tool is missing.

set -euo pipefail

readonly header=include/spdk/nvme_spec.h written_as=spdk-nvme_spec.h
readonly lock_version=1 max_kib=8192

# die CODE LINE...: leave with a message.
die() {
    local code=$1
    shift
    printf '%s\n' "fetch-spdk-kv-headers.sh: $1" "${@:2}" >&2
    exit "$code"
}

# usage: print this script's own header, from its second line to the first empty one.
usage() {
    local line
    while IFS= read -r line; do
        [[ $line == \#* ]] || break
        [[ $line == \#!* ]] || printf '%s\n' "${line#\#}"
    done <"${BASH_SOURCE[0]}"
}

# nearest_lock: print the path of the lock above this script.
nearest_lock() {
    local here folder
    here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" >/dev/null && pwd -P)
    folder=$here
    while [[ ! -f $folder/xiokv.lock ]]; do
        [[ ! -e $folder/.git && -n $folder ]] || die 1 \
            "no xiokv.lock in $here or above; run xiokv-gen init and fetch, or give --lock FILE"
        folder=${folder%/*}
    done
    printf '%s\n' "$folder/xiokv.lock"
}

# read_lock FILE: set url and sha256 to what the lock says of the header.
read_lock() {
    local line key value path='' found=no version=''
    url='' sha256=''
    [[ -f $1 && -r $1 ]] || die 1 "$1: no such lock, or it cannot be read; give --lock FILE"
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line%$'\r'}
        if [[ $line == \[* ]]; then
            [[ $found == no ]] || break
            path='' url='' sha256=''
        elif [[ $line =~ ^([a-z0-9_]+)\ *=\ *\"?([^\"]*)\"?$ ]]; then
            key=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]}
            case $key in
                lock_version) version=$value ;;
                path) path=$value ;;
                url | sha256) printf -v "$key" '%s' "$value" ;;
            esac
            [[ $path != "$header" ]] || found=yes
        fi
    done <"$1"
    [[ $version == "$lock_version" ]] || die 1 \
        "$1: lock_version is '$version', and this script reads $lock_version;" \
        "take the script of the xiokv that wrote the lock"
    [[ $found == yes ]] || die 1 \
        "$1: names no $header; pin one: xiokv-gen fetch --ref v26.05, or another ref of SPDK"
}

# check_entry FILE: refuse what is no address or no hash.
check_entry() {
    [[ -n $url ]] || die 1 \
        "$1: gives no address for $header, which came from a plain folder;" \
        "fetch it from a repository: xiokv-gen fetch --ref v26.05"
    [[ $url =~ ^https://[^/@[:space:]]+/[^[:space:]]*$ ]] || is_loopback || die 1 \
        "$1: $url is not allowed; https without credentials is, and http to this machine"
    [[ $sha256 =~ ^[0-9a-f]{64}$ ]] || die 1 \
        "$1: '$sha256' is no SHA-256 of $header; restore the lock from version control"
}

is_loopback() {
    [[ $url =~ ^http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?/[^[:space:]]*$ ]]
}

# is_locked_one FILE: tell whether a file has the hash of the lock.
is_locked_one() {
    local sum
    sum=$(sha256sum <"$1") || die 1 "$1: cannot be read"
    [[ ${sum%% *} == "$sha256" ]]
}

# download FILE: fetch the header into a file, or leave with what went wrong.
download() {
    local followed=(--location --max-redirs 5 --proto '=https' --proto-redir '=https')
    ! is_loopback || followed=(--proto '=http' --noproxy '*')
    local answer code=0
    # -q: no settings of the user, credentials among them.
    answer=$(
        ulimit -f "$max_kib"
        curl -q --silent --show-error --stderr - --globoff "${followed[@]}" \
            --connect-timeout 10 --max-time 120 --max-filesize $((max_kib * 1024)) \
            --write-out '\n%{http_code}' --output "$1" --url "$url"
    ) || code=$?
    ((code == 0)) || explain "$code" "${answer%$'\n'*}"
    [[ ${answer##*$'\n'} == 200 ]] || die 1 \
        "$url: the server answers ${answer##*$'\n'}, not 200 OK; is the lock's commit still there?"
}

# explain CODE WORDS: leave with what a failure of curl means.
explain() {
    local words=${2##*curl: }
    case $1 in
        5 | 6 | 7 | 28) die 1 "$url: cannot be reached; check the network and the proxy" "$words" ;;
        1 | 47) die 1 "$url: redirected elsewhere than to https, or too often" "$words" ;;
        18) die 1 "$url: the answer ended early; try again" "$words" ;;
        23) die 1 "$target: cannot be written; is the disk full?" "$words" ;;
        35 | 51 | 58 | 60 | 77) die 1 "$url: not secure; check the certificates" "$words" ;;
        63 | 153) die 1 "$url: more than $max_kib KiB; that is no header file" ;;
        *) die 1 "$url: curl failed with code $1" "$words" ;;
    esac
}

# read_arguments ARGUMENT...: set lock, which may stay empty, and folder.
read_arguments() {
    lock=${XIOKV_LOCK:-} folder=''
    while (($# > 0)); do
        case $1 in
            -h | --help) usage && exit ;;
            --lock)
                [[ -n ${2:-} ]] || die 2 "--lock needs the path of a lock" "$(usage)"
                lock=$2
                shift
                ;;
            -*) die 2 "unknown option '$1'" "$(usage)" ;;
            *)
                [[ -z $folder ]] || die 2 "one OUTPUT_DIR only, and '$1' is another" "$(usage)"
                folder=$1
                ;;
        esac
        shift
    done
    [[ -n $folder ]] || die 2 "name the OUTPUT_DIR" "$(usage)"
}

# fetch_into FOLDER: download beside the target, prove, and only then take its place.
fetch_into() {
    command -v curl >/dev/null || die 5 "curl is not installed; Debian: apt install curl"
    mkdir -p -- "$1" 2>/dev/null || die 1 "$1: cannot be made; choose another OUTPUT_DIR"
    part=$target.$$.$RANDOM.part
    trap 'rm -f -- "$part"' EXIT
    : 2>/dev/null >"$part" || die 1 "$1: cannot be written to; choose another OUTPUT_DIR"
    download "$part"
    is_locked_one "$part" || die 1 \
        "$url: has another SHA-256 than $lock says; nothing was written" \
        "If SPDK's file changed on purpose, run xiokv-gen fetch and read what it says."
    mv -f -- "$part" "$target" || die 1 "$target: cannot be replaced; see the message above"
}

read_arguments "$@"
[[ -n $lock ]] || lock=$(nearest_lock)
read_lock "$lock"
check_entry "$lock"
command -v sha256sum >/dev/null || die 5 "sha256sum is not installed; Debian: apt install coreutils"
target=$folder/$written_as
[[ ! -d $target ]] || die 1 "$target: a folder is in the way; remove it"
if [[ -f $target ]] && is_locked_one "$target"; then
    touch -c -- "$target" 2>/dev/null || true # newer than what a build compares it with
    echo "$target is the locked one"
else
    fetch_into "$folder"
    echo "wrote $target"
fi
