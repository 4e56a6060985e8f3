#!/usr/bin/env bash
# Make the rivals' environments: PEERS=FOLDER benchmarks/make_peers.sh (some 10 minutes, 2.5 GB).
# An environment that is there already is kept, so one may be a link to another.
set -eu
: "${PEERS:?set PEERS to the folder that is to hold the environments}"
make() {
    [ -e "$PEERS/$1/bin/python" ] && return
    python3 -m venv "$PEERS/$1"
    "$PEERS/$1/bin/pip" -q install "${@:2}"
}
mkdir -p "$PEERS"
make torch torch==2.13.0 numpy # of torch, a build for the CPU; others take several GB
make jax jax==0.10.2 jaxlib==0.10.2 scipy
make misc numpy scipy autograd==1.9.1 pytensor==3.0.7 numba
