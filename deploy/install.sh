#!/bin/sh
# Installs the server from a wheel into a virtual environment of its own: deploy/install.sh WHEEL FOLDER
# What it needs comes from the hash-locked requirements, and nothing else is fetched.

set -eu
wheel=$1
folder=$2
requirements=$(dirname "$0")/../requirements/serve.txt

python3 -m venv --clear "$folder"
"$folder/bin/python" -m pip --disable-pip-version-check --quiet install \
  --only-binary :all: --no-deps --require-hashes --requirement "$requirements"
"$folder/bin/python" -m pip --disable-pip-version-check --quiet install \
  --no-deps "$wheel"
"$folder/bin/askgraph" --version
