#!/usr/bin/env bash
# make.sh OLD: what askgraph 0.1.0 leaves behind, into v0_1_0/: a workspace with a graph, its indices
# and a question answered over REST, judged and confirmed; its database as SQL. OLD is a checkout of
# 588aa65b^, the last commit whose database was 0.1.0's. To be run from the repository.
set -euo pipefail
here="$PWD/tests/upgrade/v0_1_0"
python="$PWD/.venv/bin/python"
export PYTHONPATH="$1/src" ASKGRAPH_WORKSPACE=/srv/askgraph PYTHONDONTWRITEBYTECODE=1
mkdir -p /srv/askgraph
trap 'rm -r /srv/askgraph' EXIT
cd /srv/askgraph
cat >moons.ttl <<'TURTLE'
@prefix : <https://example.org/space/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

:Moon a rdfs:Class ; rdfs:label "Moon" .
:Planet a rdfs:Class ; rdfs:label "Planet" .
:orbits rdfs:label "orbits" .
:diameter rdfs:label "diameter" .
:Mars a :Planet ; rdfs:label "Mars" ; :diameter 6779 .
:Earth a :Planet ; rdfs:label "Earth" ; :diameter 12742 .
:Phobos a :Moon ; rdfs:label "Phobos" ; :orbits :Mars ; :diameter 22 .
:Deimos a :Moon ; rdfs:label "Deimos" ; :orbits :Mars ; :diameter 12 .
:Luna a :Moon ; rdfs:label "Luna" ; :orbits :Earth ; :diameter 3474 .
TURTLE

"$python" -m askgraph add moons moons.ttl
"$python" -m askgraph index build moons
"$python" -m askgraph keys add reporting --scope ask --scope confirm | grep -o 'askgraph_[^ ]*' | head -1 >"$here/key.txt"
"$python" -m askgraph serve --port 8765 &
server=$!
trap 'kill $server 2>/dev/null || true; rm -r /srv/askgraph' EXIT
api=http://127.0.0.1:8765/api/v1
send() {
  curl -sf -X POST -H "Authorization: Bearer $(<"$here/key.txt")" -H 'Content-Type: application/json' -d "$2" "$api/$1"
}
until curl -sf http://127.0.0.1:8765/healthz >/dev/null; do sleep 0.5; done
run=$(send ask '{"question": "Which moons orbit Mars?"}' | "$python" -c 'import json, sys; print(json.load(sys.stdin)["id"])')
send "runs/$run/feedback" '{"verdict": "right", "comment": "both"}'
send "runs/$run/confirm" '{}'
send ask '{"question": "What is the diameter of Luna?"}' >/dev/null
kill -TERM $server
wait $server || true

"$python" -c 'import sqlite3; print(*sqlite3.connect("serve.db").iterdump(), sep="\n")' >"$here/serve.sql"
tar --create --sort=name --owner=0 --group=0 --numeric-owner --exclude='serve.db*' --exclude=LOG --exclude='.lock' \
  --file - . | gzip --no-name -9 >"$here/workspace.tar.gz"
