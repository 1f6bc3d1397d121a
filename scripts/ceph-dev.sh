#!/usr/bin/env bash
# A Ceph cluster for development: one monitor and one OSD on the loopback address, with
# cephx, in a folder of its own. Nothing outside the folder is used; no root is needed.
#
# Usage: scripts/ceph-dev.sh start [mon|osd] [--dir DIR] [--store KIND] [--yes]
#        scripts/ceph-dev.sh stop [mon|osd] [--dir DIR] [--keep]
#        scripts/ceph-dev.sh kill mon|osd [--dir DIR]
#        scripts/ceph-dev.sh status [--dir DIR]
#   start    make the cluster, with the pool xiokv, and start it; or start what is stopped.
#            A memstore that was killed comes back empty, with all its pools
#   stop     stop the cluster and remove all of it; other files in the folder stay. Of one
#            daemon, keep all data
#   kill     end one daemon by SIGKILL
#   status   tell whether both daemons run; exits with 3 if not
#   --dir    the cluster's folder; by default $XIOKV_CEPH_DIR, else build/ceph
#   --store  memstore, by default: values are in memory, and on disk after an orderly stop;
#            or bluestore: a file, which also lasts when the OSD is killed
#   --keep   stop, but keep the folder, from which the next start goes on
#   --yes    install missing Debian packages with sudo; root needs no --yes

set -euo pipefail
readonly start=$PWD
# shellcheck source-path=SCRIPTDIR source=lib/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/setup.sh"
# shellcheck source-path=SCRIPTDIR source=lib/ceph_data.sh
source "$root/scripts/lib/ceph_data.sh"
# shellcheck source-path=SCRIPTDIR source=lib/ceph_daemons.sh
source "$root/scripts/lib/ceph_daemons.sh"
unset CEPH_ARGS CEPH_CONF CEPH_KEYRING

readonly pool=xiokv
readonly socket_bytes=107  # the longest path of a UNIX socket

# own_files: print what of the folder is this script's and the daemons'.
own_files() {
    local name
    for name in ceph.conf mon osd crash monmap osd.unclean cluster.log \
        {mon,osd}.{pid,asok,log} "$dir"/*.keyring; do
        name=$dir/${name##*/}
        [[ ! -e $name ]] || echo "$name"
    done
}

# remove: take away what this script and the daemons made; other files stay, and are told.
remove() {
    local files
    mapfile -t files < <(own_files)
    rm -rf -- "${files[@]}"
    mapfile -t files < <(ls -A -- "$dir")
    ((${#files[@]} > 0)) || rmdir -- "$dir" 2>/dev/null ||
        files=("it cannot be removed")
    ((${#files[@]} == 0)) || echo "left in $dir, and not this script's: ${files[*]}"
}

# give_up: after a start that failed, show why, and leave nothing behind.
give_up() {
    local code=$? name
    trap - EXIT
    for name in mon osd; do
        [[ $code != 130 && -s $dir/$name.log ]] || continue
        { echo "--- the end of $dir/$name.log:" && tail -n 15 "$dir/$name.log"; } >&2
    done
    for name in "${started[@]}"; do
        end "$name" TERM
    done
    [[ $made == yes ]] || die "$code" "the start failed; what ran before runs on, in $dir" \
        "To make a new cluster, first run: $script stop --dir $dir"
    remove >&2
    die "$code" "the cluster did not start, and nothing of it stays"
}

# check_folder: refuse a folder that cannot be a cluster's.
check_folder() {
    local longest=$dir/mon.asok LC_ALL=C # lengths are in bytes
    [[ $dir =~ ^[A-Za-z0-9/._+@-]+$ ]] ||
        die 2 "ceph.conf cannot name the folder '$dir'" \
            "Choose one of letters, digits and ._+@- by --dir."
    ((${#longest} <= socket_bytes)) ||
        die 2 "$longest has ${#longest} bytes; the path of a socket has at most $socket_bytes" \
            "Choose a shorter folder by --dir, such as --dir \"\$(mktemp -d)\"."
    [[ ! -e $dir || -d $dir ]] || die 2 "$dir is no folder; choose another by --dir"
    [[ -e $conf ]] || check_room
}

# check_room: refuse a folder with others' files in the place of a cluster's.
check_room() {
    local files
    mapfile -t files < <(own_files)
    ((${#files[@]} == 0)) ||
        die 2 "there is no cluster in $dir, and files in the place of one: ${files[*]##*/}" \
            "Move or remove them, or choose another folder by --dir."
}

# lock: let one call at a time work in the folder.
lock() {
    exec 9<"$dir"
    flock --timeout 120 9 || die 1 "another $script works in $dir"
}

describe() {
    cat <<TEXT
conf     $conf
keyring  $keyring
URL      rados://$pool/tenant?conf=$conf
TEXT
}

start_command() {
    local missing name daemons=(mon osd)
    [[ -z $daemon ]] || daemons=("$daemon")
    mapfile -t missing < <(missing_packages "${packages[@]}")
    ((${#missing[@]} == 0)) || install_packages "$yes" "${missing[@]}"
    check_folder
    [[ -z $daemon || -e $conf ]] || die 2 "there is no cluster in $dir; start all of it first"
    check_owner
    mkdir -p -- "$dir"
    lock
    [[ $daemon != osd ]] || runs mon ||
        die 1 "an OSD does not start without a monitor" "Run: $script start --dir $dir"
    made=no started=()
    [[ -e $conf ]] || made=yes
    trap give_up EXIT
    trap 'exit 130' INT TERM HUP
    if [[ $made == yes ]]; then
        make
        start_mon
        make_osd
        start_osd
        make_pool
    else
        for name in "${daemons[@]}"; do
            if runs "$name"; then
                echo "$name runs already, process $pid"
            else
                "start_$name"
            fi
        done
    fi
    trap - EXIT
    describe
}

# check_owner: refuse a folder with a configuration that is not this script's.
check_owner() {
    [[ ! -e $conf || $(head -n 1 "$conf") == "# Written by scripts/ceph-dev.sh"* ]] ||
        die 2 "$conf was not written by this script; nothing is done to it"
}

# need_cluster CODE: where there is no cluster, say so and leave.
need_cluster() {
    [[ ! -d $dir ]] || lock
    [[ -e $conf ]] || {
        echo "there is no cluster in $dir"
        exit "$1"
    }
    check_owner
}

stop_command() {
    need_cluster 0
    if [[ -n $daemon ]]; then
        end "$daemon" TERM
    else
        # What is removed need not be written to disk first.
        end osd "$([[ $keep == yes ]] && echo TERM || echo KILL)"
        end mon TERM
        [[ $keep == yes ]] || remove
    fi
}

kill_command() {
    [[ -n $daemon ]] || die 2 "kill needs mon or osd" "$(usage)"
    need_cluster 3
    end "$daemon" KILL
}

status_command() {
    local name code=0
    need_cluster 3
    for name in mon osd; do
        if runs "$name"; then
            echo "$name      runs, process $pid"
        else
            echo "$name      does not run"
            code=3
        fi
    done
    describe
    exit "$code"
}

readonly packages=("ceph-mon ceph-mon" "ceph-osd ceph-osd" "ceph ceph-common")
command='' daemon='' yes=no keep=no store=memstore
dir=${XIOKV_CEPH_DIR:-$root/build/ceph}
while (($# > 0)); do
    case $1 in
        start | stop | kill | status) command=$1 ;;
        mon | osd) daemon=$1 ;;
        --yes) yes=yes ;;
        --keep) keep=yes ;;
        --dir | --store)
            [[ -n ${2:-} ]] || die 2 "$1 needs a value" "$(usage)"
            [[ $1 == --dir ]] && dir=$2 || store=$2
            shift
            ;;
        -h | --help) usage && exit ;;
        *) die 2 "unknown argument '$1'" "$(usage)" ;;
    esac
    shift
done
[[ -n $command ]] || die 2 "say start, stop, kill or status" "$(usage)"
[[ $store == memstore || $store == bluestore ]] ||
    die 2 "--store $store: there are memstore and bluestore"
dir=$(cd -- "$start" && realpath -m -- "$dir")
readonly dir conf=$dir/ceph.conf keyring=$dir/client.admin.keyring
# Marks that the OSD was started, and not stopped in order since.
readonly unclean=$dir/osd.unclean
"${command}_command"
