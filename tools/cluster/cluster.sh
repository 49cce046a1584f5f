#!/bin/bash
# A PostgreSQL cluster that fails over by itself, on one machine: etcd, three nodes of Patroni, HAProxy. Debian's packages, no systemd.
#   cluster.sh start DIR    cluster.sh stop DIR    cluster.sh status DIR
#   cluster.sh primary DIR               prints the name of the node that leads
#   cluster.sh kill DIR NODE             kills a node (Patroni and every process of its PostgreSQL) as a power cut would
#   cluster.sh lag DIR NODE              from now on its standbys hear nothing of it; resolves after a moment
#   cluster.sh revive DIR NODE           starts a killed node again
# Applications connect to the port that DIR/port names (user postgres, trust). NODES, TTL, LOOP_WAIT, RETRY, SYNCHRONOUS
# may be set in the environment.
set -euo pipefail

command=${1:?start, stop, status, primary, kill, lag or revive}
root=${2:?a folder}

# PostgreSQL refuses to run as root. Its user may not be able to read this file where it is.
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$root" && chown postgres "$root"
  exec setpriv --reuid=postgres --regid=postgres --init-groups env -i PATH="$PATH" LC_ALL=C.UTF-8 HOME="$root" \
    NODES="${NODES:-3}" TTL="${TTL:-20}" LOOP_WAIT="${LOOP_WAIT:-1}" RETRY="${RETRY:-3}" \
    SYNCHRONOUS="${SYNCHRONOUS:-true}" bash -c "$(cat "$0")" cluster.sh "$@"
fi
cd "$root" && root=$PWD
NODES=${NODES:-3} TTL=${TTL:-20} LOOP_WAIT=${LOOP_WAIT:-1} RETRY=${RETRY:-3} SYNCHRONOUS=${SYNCHRONOUS:-true}

# pg_config is only in the -dev package; the binaries are not on PATH in Debian.
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)

free_ports() { # COUNT
  /usr/bin/python3 -c 'import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))' "$1"
}

# In the background, in a session of its own, with its pid in NAME.pid and its output in NAME.log.
launch() { # NAME COMMAND...
  local name=$1; shift
  setsid nohup "$@" >>"$name.log" 2>&1 </dev/null &
  echo $! >"$name.pid"
}

wait_for() { # SECONDS WHAT COMMAND...
  local end=$((SECONDS + $1)) what=$2; shift 2
  until "$@" >/dev/null 2>&1; do
    if [ $SECONDS -ge $end ]; then echo "gave up waiting for $what; see the logs in $root" >&2; exit 1; fi
    sleep 0.2
  done
}

alive() { [ -f "$1.pid" ] && kill -0 "$(cat "$1.pid")" 2>/dev/null; }

etcd_config() {
  etcd=(/usr/bin/etcd --name e1 --data-dir "$root/etcd" --listen-client-urls "http://127.0.0.1:$ETCD"
    --advertise-client-urls "http://127.0.0.1:$ETCD" --listen-peer-urls "http://127.0.0.1:$PEER"
    --initial-advertise-peer-urls "http://127.0.0.1:$PEER" --initial-cluster "e1=http://127.0.0.1:$PEER"
    --heartbeat-interval 100 --election-timeout 1000 --logger zap --log-level warn)
}

patroni_config() { # NODE REST_PORT PG_PORT
  cat >"$1.yml" <<YAML
scope: pannier
name: $1
restapi: { listen: "127.0.0.1:$2", connect_address: "127.0.0.1:$2" }
etcd3: { hosts: "127.0.0.1:$ETCD" }
bootstrap:
  dcs:
    ttl: $TTL
    loop_wait: $LOOP_WAIT
    retry_timeout: $RETRY
    maximum_lag_on_failover: 1048576
    master_start_timeout: 0
    synchronous_mode: $SYNCHRONOUS
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        max_connections: 120
        shared_buffers: 64MB
        max_wal_size: 512MB
        wal_keep_size: 256MB
        wal_log_hints: "on"
        hot_standby: "on"
        tcp_keepalives_idle: 5
        tcp_user_timeout: 5000
  initdb: [ { encoding: UTF8 }, { locale: C.UTF-8 }, data-checksums ]
  pg_hba: [ "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust" ]
postgresql:
  listen: "127.0.0.1:$3"
  connect_address: "127.0.0.1:$3"
  data_dir: $root/$1
  bin_dir: $bin
  pgpass: $root/$1.pgpass
  parameters: { unix_socket_directories: "$root" }
  authentication:
    superuser: { username: postgres }
    replication: { username: postgres }
    rewind: { username: postgres }
watchdog: { mode: off }
YAML
  chmod 600 "$1.yml"
}

haproxy_config() {
  cat >haproxy.cfg <<CFG
global
  maxconn 500
defaults
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen primary
  bind 127.0.0.1:$PORT
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 300ms fastinter 100ms fall 2 rise 1 on-marked-down shutdown-sessions
$(for i in $(seq $NODES); do rest=REST$i pg=PG$i; echo "  server n$i 127.0.0.1:${!pg} check port ${!rest}"; done)
CFG
}

rest_of() { local rest=REST${1#n}; echo "http://127.0.0.1:${!rest}"; }
leads() { [ "$(curl -s -o /dev/null -m 2 -w '%{http_code}' "$(rest_of "$1")/primary")" = 200 ]; }
replicates() { [ "$(curl -s -o /dev/null -m 2 -w '%{http_code}' "$(rest_of "$1")/replica")" = 200 ]; }
primary() { for i in $(seq $NODES); do if leads "n$i"; then echo "n$i"; return; fi; done; return 1; }
has_sync() { [ "$SYNCHRONOUS" = false ] || curl -fs "$(rest_of "$(primary)")/cluster" | grep -q sync_standby; }
in_step() { # every node is there
  primary >/dev/null || return 1
  for i in $(seq $NODES); do leads "n$i" || replicates "n$i" || return 1; done
}

kill_postgres() { # NODE: the postmaster and its children at once
  local postmaster; postmaster=$(head -1 "$1/postmaster.pid")
  kill -9 "$postmaster" $(pgrep -P "$postmaster") 2>/dev/null || true
}

[ "$command" = start ] || . ./ports
case $command in
  start)
    if [ -e ports ]; then echo "$root has a cluster already" >&2; exit 1; fi
    read -r PORT ETCD PEER rest <<<"$(free_ports $((3 + 2 * NODES)))"
    { echo "NODES=$NODES PORT=$PORT ETCD=$ETCD PEER=$PEER"; i=0; for port in $rest; do
        if [ $((i % 2)) = 0 ]; then echo "REST$((i / 2 + 1))=$port"; else echo "PG$((i / 2 + 1))=$port"; fi; i=$((i + 1)); done; } >ports
    . ./ports; echo "$PORT" >port
    etcd_config; launch etcd "${etcd[@]}"
    wait_for 20 etcd curl -fs "http://127.0.0.1:$ETCD/health"
    for i in $(seq $NODES); do rest=REST$i pg=PG$i; patroni_config "n$i" "${!rest}" "${!pg}"; launch "n$i" /usr/bin/python3 /usr/bin/patroni "n$i.yml"; 
      [ "$i" != 1 ] || wait_for 60 'the first primary' primary; done
    wait_for 90 'the standbys' in_step
    wait_for 30 'a synchronous standby' has_sync
    haproxy_config; launch haproxy /usr/sbin/haproxy -W -db -f haproxy.cfg
    wait_for 10 haproxy bash -c "echo >/dev/tcp/127.0.0.1/$PORT"
    echo "port $PORT" ;;
  stop)
    for name in haproxy $(seq -f n%g $NODES) etcd; do alive $name && kill "$(cat $name.pid)" || true; done
    for name in haproxy $(seq -f n%g $NODES) etcd; do
      for _ in $(seq 75); do alive $name || break; sleep 0.2; done
      alive $name && kill -9 "$(cat $name.pid)" || true
    done
    for i in $(seq $NODES); do [ ! -f n$i/postmaster.pid ] || kill_postgres n$i; done
    mv ports ports.stopped ;;
  status) curl -s "$(rest_of "$(primary)")/cluster"; echo ;;
  primary) primary ;;
  kill) kill -9 "$(cat $3.pid)"; kill_postgres $3 ;;
  lag) pkill -STOP -P "$(head -1 "$3/postmaster.pid")" -f walsender; sleep 0.4 ;;
  revive) launch $3 /usr/bin/python3 /usr/bin/patroni "$3.yml"; wait_for 60 "$3" in_step
    # Otherwise nobody may follow the next primary that is killed.
    wait_for 60 'a synchronous standby' has_sync ;;
esac
