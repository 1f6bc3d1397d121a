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
unset CEPH_ARGS CEPH_CONF CEPH_KEYRING

readonly pool=xiokv
readonly start_seconds=30  # for a daemon to start, or to answer
readonly stop_seconds=120  # for a daemon to stop: a memstore writes its objects to disk
readonly socket_bytes=107  # the longest path of a UNIX socket

# configuration PORT: print ceph.conf. Times are short, so that what fails is soon seen.
configuration() {
    cat <<CONF
# Written by scripts/ceph-dev.sh, which removes this file and all of its cluster.
[global]
fsid = $(</proc/sys/kernel/random/uuid)
mon_host = v2:127.0.0.1:$1
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_msgr1 = false
keyring = $dir/\$type.\$id.keyring
crash_dir = $dir/crash
err_to_stderr = false
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0

[mon]
mon_data = $dir/mon
log_file = $dir/mon.log
pid_file = $dir/mon.pid
admin_socket = $dir/mon.asok
mon_cluster_log_file = $dir/cluster.log
mon_data_avail_warn = 1
mon_data_avail_crit = 0
mon_allow_pool_size_one = true
mon_allow_pool_delete = true
mon_warn_on_pool_no_redundancy = false
auth_allow_insecure_global_id_reclaim = false
paxos_propose_interval = 0.1
paxos_min_wait = 0.01
mon_tick_interval = 1
mon_osd_report_timeout = 20
mon_osd_down_out_interval = 86400

[osd]
osd_data = $dir/osd
log_file = $dir/osd.log
pid_file = $dir/osd.pid
admin_socket = $dir/osd.asok
osd_objectstore = $store
# Of several threads, memstore loses updates of its used bytes; below zero, all is full.
osd_op_num_shards = 1
osd_op_num_threads_per_shard = 1
memstore_device_bytes = 8589934592
bluestore_block_size = 8589934592
osd_memory_target = 1073741824
osd_fast_shutdown = false
osd_beacon_report_interval = 2
osd_mon_report_interval = 1
osd_heartbeat_interval = 1
osd_max_markdown_count = 1000000
osd_op_complaint_time = 600
CONF
}

# free_port: print a port on which nothing listens, below those that the system hands out.
free_port() {
    local port
    while port=$((20000 + RANDOM % 10000)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# admin COMMAND...: run one of Ceph's commands as client.admin; on standard error only if
# it fails.
admin() {
    local said
    said=$(timeout "$start_seconds" "$1" --conf "$conf" "${@:2}" </dev/null 2>&1) && return
    echo "$said" >&2
    return 1
}

# runs NAME: tell whether NAME, mon or osd, runs: its process is then in $pid. A process
# that is not this folder's is none, whatever the pid file says.
runs() {
    local words
    pid=$(cat "$dir/$1.pid" 2>/dev/null) && [[ $pid =~ ^[1-9][0-9]*$ ]] || return 1
    { mapfile -d '' -t words <"/proc/$pid/cmdline"; } 2>/dev/null || return 1
    if ((${#words[@]} == 0)); then
        is_ending "$1"
    else
        [[ ${words[*]} == *"ceph-$1 "*" --conf $conf" ]]
    fi
}

# is_ending NAME: tell whether process $pid is a daemon that has no memory any more, but
# still its files, such as the locked pid file.
is_ending() {
    [[ $(cat "/proc/$pid/comm" 2>/dev/null) == "ceph-$1" ]] &&
        ! grep -q '^State:.[ZX]' "/proc/$pid/status" 2>/dev/null
}

# wait_for SECONDS CONDITION...: wait until a command succeeds; fail if it does not in time.
wait_for() {
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# answers NAME COMMAND PATTERN: tell whether a daemon's answer, by its admin socket, matches.
answers() {
    timeout "$start_seconds" ceph --admin-daemon "$dir/$1.asok" "$2" 2>/dev/null | grep -Eq "$3"
}

start_mon() {
    started+=(mon)
    ceph-mon -i a --conf "$conf" 9<&-
    wait_for "$start_seconds" answers mon mon_status '"state": "leader"'
}

# start_osd: start the OSD. One whose values were in memory and are lost is made anew:
# what an earlier stop left on disk is neither those values nor nothing.
start_osd() {
    local lost=no
    started+=(osd)
    if [[ -e $unclean && $(ceph-conf --conf "$conf" -s osd --lookup osd_objectstore) == memstore ]]; then
        lost=yes
        make_store "$(<"$dir/osd/fsid")"
        make_groups
    fi
    touch -- "$unclean"
    if ! ceph-osd -i 0 --conf "$conf" 9<&-; then
        [[ $lost == yes ]] || rm -f -- "$unclean" # what is on disk is as it was
        return 1
    fi
    wait_for "$start_seconds" answers osd status '"state": "active"'
    [[ $lost == no ]] || wait_for_pools
}

# end NAME SIGNAL: end a daemon if it runs, by SIGKILL if it takes too long.
end() {
    runs "$1" || return 0
    kill "-$2" "$pid" 2>/dev/null || true
    kill -CONT "$pid" 2>/dev/null || true
    if ! wait_for "$stop_seconds" ended "$1"; then
        kill -KILL "$pid"
    elif [[ $1$2 == osdTERM ]]; then
        rm -f -- "$unclean"
    fi
    wait_for "$stop_seconds" ended "$1" || die 1 "$1, process $pid, does not end; its folder stays: $dir"
}

ended() {
    ! runs "$1"
}

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

# make: write the configuration and the keyrings, and make the monitor's data.
make() {
    local port
    port=$(free_port)
    mkdir -p "$dir/crash"
    configuration "$port" >"$conf"
    (
        umask 077
        ceph-authtool --create-keyring "$keyring" --gen-key -n client.admin \
            --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
        ceph-authtool --create-keyring "$dir/osd.0.keyring" --gen-key -n osd.0 \
            --cap mon 'allow profile osd' --cap osd 'allow *'
        ceph-authtool --create-keyring "$dir/mon.a.keyring" --gen-key -n mon. --cap mon 'allow *'
        ceph-authtool "$dir/mon.a.keyring" --import-keyring "$keyring"
        ceph-authtool "$dir/mon.a.keyring" --import-keyring "$dir/osd.0.keyring"
    ) >/dev/null
    monmaptool --create --addv a "[v2:127.0.0.1:$port]" --clobber "$dir/monmap" \
        --fsid "$(ceph-conf --conf "$conf" --lookup fsid)" >/dev/null
    ceph-mon -i a --conf "$conf" --mkfs --monmap "$dir/monmap"
}

# make_osd: make the OSD known to the monitor, and its data.
make_osd() {
    local uuid
    uuid=$(</proc/sys/kernel/random/uuid)
    admin ceph osd new "$uuid" 0
    make_store "$uuid"
}

# make_store UUID: make the OSD's data, empty.
make_store() {
    rm -rf -- "$dir/osd"
    mkdir "$dir/osd"
    ceph-osd -i 0 --conf "$conf" --mkfs --osd-uuid "$1" 2>/dev/null
}

# make_pool: make the pool, and wait until it takes requests.
make_pool() {
    admin ceph osd pool create "$pool"
    admin ceph osd pool application enable "$pool" "$pool"
    admin rados -p "$pool" ls
}

# make_groups: have the monitor make all placement groups anew, when the OSD is back.
make_groups() {
    local line number
    while read -r line; do
        [[ $line =~ ^pool\ ([0-9]+)\ .*\ pg_num\ ([0-9]+)\  ]] || continue
        for ((number = 0; number < BASH_REMATCH[2]; number++)); do
            admin ceph osd force-create-pg "$(printf %d.%x "${BASH_REMATCH[1]}" "$number")" \
                --yes-i-really-mean-it
        done
    done < <(timeout "$start_seconds" ceph --conf "$conf" osd dump 2>/dev/null)
}

# wait_for_pools: wait until all pools, which are empty, take requests.
wait_for_pools() {
    local name
    while read -r name; do
        admin rados -p "$name" ls
    done < <(timeout "$start_seconds" rados --conf "$conf" lspools)
    echo "the OSD was killed, and all values in its memory are lost: its pools are there, and empty"
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
