#!/usr/bin/env bash
# A Virtuoso server on loopback ports, with an empty database of its own, for the tests.
#
#   eval "$(tools/virtuoso.sh start)"     start one; sets ASKGRAPH_TEST_VIRTUOSO (its SPARQL address)
#   eval "$(tools/virtuoso.sh start --buffers N)"   with memory for N pages of 8 KiB, not 20000
#   tools/virtuoso.sh load FILE IRI       put a Turtle or N-Triples file in place of the graph IRI,
#                                         its texts into the full-text index
#   tools/virtuoso.sh select QUERY        run a query over HTTP, print the JSON result
#   tools/virtuoso.sh stop                stop it and remove its database
#
# State lies in ASKGRAPH_VIRTUOSO_DIR (build/virtuoso of this project unless set; `start` exports
# it). A file may be gzipped (*.gz). N pages take about 9 KiB each: 20000 are 180 MiB, 500000 are
# 4.5 GiB, which holds a graph of ten million triples.
# Needs `virtuoso-t` and `isql-vt`: on Debian, the package virtuoso-opensource-7-bin.

set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
dir="${ASKGRAPH_VIRTUOSO_DIR:-$root/build/virtuoso}"
seconds_to_start=60

fail() {
  echo "virtuoso.sh: $*" >&2
  exit 1
}

# Only a folder that is ours is ever removed.
remove_state() {
  [ ! -d "$dir" ] || [ -z "$(ls -A "$dir")" ] || [ -f "$dir/virtuoso.ini" ] ||
    fail "$dir holds other things than a Virtuoso of ours"
  rm -rf "$dir"
}

is_running() {
  [ -s "$dir/pid" ] && kill -0 "$(cat "$dir/pid")" 2>/dev/null
}

free_ports() {
  python3 - <<'PYTHON'
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(one.getsockname()[1] for one in sockets))
PYTHON
}

write_config() { # SQL_PORT HTTP_PORT BUFFERS
  cat >"$dir/virtuoso.ini" <<INI
[Database]
DatabaseFile = $dir/db/virtuoso.db
ErrorLogFile = $dir/db/virtuoso.log
LockFile = $dir/db/virtuoso.lck
TransactionFile = $dir/db/virtuoso.trx
xa_persistent_file = $dir/db/virtuoso.pxa
[TempDatabase]
DatabaseFile = $dir/db/temporary.db
TransactionFile = $dir/db/temporary.trx
[Parameters]
ServerPort = 127.0.0.1:$1
DirsAllowed = $dir/load
NumberOfBuffers = $3
MaxDirtyBuffers = $(($3 * 3 / 4))
[HTTPServer]
ServerPort = 127.0.0.1:$2
ServerRoot = $dir/db
ServerThreads = 4
[SPARQL]
ResultSetMaxRows = 10000
MaxQueryExecutionTime = 60
INI
}

start() { # [BUFFERS]
  local buffers="${1-20000}"
  [[ "$buffers" =~ ^[1-9][0-9]{2,8}$ ]] || fail "not a number of pages, from 100: $buffers"
  type -P virtuoso-t isql-vt >/dev/null ||
    fail "virtuoso-t is not installed: apt-get install virtuoso-opensource-7-bin"
  if ! is_running; then
    remove_state
    mkdir -p "$dir/db" "$dir/load"
    read -r sql_port http_port < <(free_ports)
    write_config "$sql_port" "$http_port" "$buffers"
    printf 'sql_port=%s\nhttp_port=%s\n' "$sql_port" "$http_port" >"$dir/ports"
    virtuoso-t +foreground +configfile "$dir/virtuoso.ini" </dev/null >"$dir/output.log" 2>&1 &
    echo $! >"$dir/pid"
    wait_until_ready
  elif [ -n "${1:-}" ] && ! grep -qx "NumberOfBuffers = $1" "$dir/virtuoso.ini"; then
    fail "it runs with other memory: tools/virtuoso.sh stop first"
  fi
  # shellcheck source=/dev/null
  . "$dir/ports"
  echo "export ASKGRAPH_VIRTUOSO_DIR='$dir'"
  echo "export ASKGRAPH_TEST_VIRTUOSO='http://127.0.0.1:$http_port/sparql'"
}

wait_until_ready() {
  for ((tenths = 0; tenths < seconds_to_start * 10; tenths++)); do
    if select_json 'ASK {}' >/dev/null 2>&1; then return; fi
    is_running || break
    sleep 0.1
  done
  tail -n 20 "$dir/output.log" "$dir/db/virtuoso.log" >&2 || true
  stop
  fail "Virtuoso did not start"
}

load() { # FILE IRI
  is_running || fail "not running: tools/virtuoso.sh start"
  [ -r "$1" ] || fail "no file $1"
  [[ "$2" != *[\'\"\<\>\ ]* ]] || fail "not an IRI: $2"
  local file
  file="$(mktemp "$dir/load/XXXXXX")" # a load of another process has its own
  case "$1" in
    *.gz) gzip -dc "$1" >"$file" ;;
    *) cat "$1" >"$file" ;;
  esac
  sql "log_enable(3,1); SPARQL CLEAR GRAPH <$2>;
       DB.DBA.TTLP(file_to_string_output('$file'), '$2', '$2');
       DB.DBA.RDF_OBJ_FT_RULE_ADD(null, null, 'all'); DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ();
       checkpoint;"
  rm -f "$file"
}

sql() { # STATEMENTS
  # shellcheck source=/dev/null
  . "$dir/ports"
  local output
  output="$(isql-vt "127.0.0.1:$sql_port" dba dba VERBOSE=OFF BANNER=OFF PROMPT=OFF ERRORS=STDOUT \
    exec="$1" 2>&1)" || fail "$output"
  if grep -q '^\*\*\* Error' <<<"$output"; then fail "$output"; fi
}

select_json() { # QUERY
  # shellcheck source=/dev/null
  . "$dir/ports"
  QUERY="$1" PORT="$http_port" python3 - <<'PYTHON'
import os, urllib.error, urllib.parse, urllib.request
address = f"http://127.0.0.1:{os.environ['PORT']}/sparql"
body = urllib.parse.urlencode({"query": os.environ["QUERY"]}).encode()
accept = {"Accept": "application/sparql-results+json"}
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    with direct.open(urllib.request.Request(address, body, accept), timeout=60) as reply:
        print(reply.read().decode())
except urllib.error.HTTPError as error:
    raise SystemExit(error.read().decode()) from None
except OSError as error:
    raise SystemExit(str(error)) from None
PYTHON
}

stop() {
  if is_running; then
    local pid
    pid="$(cat "$dir/pid")"
    kill "$pid"
    for ((tenths = 0; tenths < 100; tenths++)); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
  fi
  remove_state
}

case "${1:-} $#" in
  "start 1") start ;;
  "start 3") [ "$2" = --buffers ] || fail "start knows no $2"; start "$3" ;;
  "stop 1") stop ;;
  "load 3") load "$2" "$3" ;;
  "select 2") select_json "$2" ;;
  *) sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
