#!/usr/bin/env bash
# Makes the environment on first use, builds the shim and reproduces the rows named (all where none is); with sharded.py first, those over several devices.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
venv="${CALIBRATION_VENV:-$here/.venv}"
if [ ! -x "$venv/bin/python" ]; then
  python3.11 -m venv "$venv"
  "$venv/bin/pip" install -q -r "$here/requirements.txt"
fi
torch="$("$venv/bin/python" -c 'import importlib.util; print(importlib.util.find_spec("torch").submodule_search_locations[0])')"
g++ -std=c++20 -shared -fPIC -O1 -I"$torch/include" -I"$torch/include/torch/csrc/api/include" -o "$here/shim.so" "$here/shim.cpp"
program=reproduce.py
if [ "${1:-}" = sharded.py ]; then
  program="$1"
  shift
fi
LD_PRELOAD="$here/shim.so" LD_LIBRARY_PATH="$torch/lib" exec "$venv/bin/python" "$here/$program" "$@"
