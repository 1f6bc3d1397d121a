#!/usr/bin/env bash
# The daemons of a Ceph cluster, a monitor and an OSD: which runs, and to start and end
# them; sourced, never run.
#
# In:  $dir, $conf and $unclean, the cluster's; setup.sh and ceph_data.sh.
# Out: the functions; $pid, the process that was asked for; $started, names of daemons.
# shellcheck disable=SC2034,SC2154
set -euo pipefail

readonly start_seconds=30  # for a daemon to start, or to answer
readonly stop_seconds=120  # for a daemon to stop: a memstore writes its objects to disk

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
