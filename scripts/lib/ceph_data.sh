#!/usr/bin/env bash
# What a Ceph cluster is made of: configuration, keyrings, data and pool; sourced, never run.
#
# In:  $dir, $conf, $keyring, $store and $pool, the cluster's; ceph_daemons.sh.
# Out: the functions.
# shellcheck disable=SC2154
set -euo pipefail

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
# An OSD that was held up for long would else wait for others to renew its right to answer reads;
# there are none.
osd_pool_default_read_lease_ratio = 1000
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

# make_groups: have the monitor make all placement groups anew, when the OSD is back; one
# process is given all commands, and does not fail by one that does.
make_groups() {
    local said
    said=$(group_commands | timeout "$start_seconds" ceph --conf "$conf" 2>&1) &&
        ! grep -q '^Error' <<<"$said" && return
    echo "$said" >&2
    return 1
}

# group_commands: print a command for each placement group.
group_commands() {
    local line number
    while read -r line; do
        [[ $line =~ ^pool\ ([0-9]+)\ .*\ pg_num\ ([0-9]+)\  ]] || continue
        for ((number = 0; number < BASH_REMATCH[2]; number++)); do
            printf 'osd force-create-pg %d.%x --yes-i-really-mean-it\n' "${BASH_REMATCH[1]}" "$number"
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
