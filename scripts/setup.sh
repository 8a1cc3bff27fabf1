#!/usr/bin/env bash
# Create the virtual environment and install the project into it.
#
# usage: scripts/setup.sh VENV [EXTRAS]      EXTRAS as in pyproject.toml, for example "dev"
#
# PYTHON names the interpreter (default: the first of python3, python3.13, python3.12, python3.11
# that is between 3.11 and 3.13). Without an NVIDIA GPU the CPU build of torch is preferred: from
# pip's local files (find-links), else from PyTorch's own index, else whatever the registry has.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="${1:?usage: scripts/setup.sh VENV [EXTRAS]}"
extras="${2:-}"
constraints="constraints/constraints.txt"
cpu_index="https://download.pytorch.org/whl/cpu"
log="$venv/setup.log"

say() { printf '%s\n' "$*" >&2; }
fail() { say "setup: error: $*"; exit 1; }

find_python() {
  local name
  for name in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    # -c fails too where the name is only a shim without an interpreter behind it
    if "$name" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
      >/dev/null 2>&1; then
      printf '%s' "$name"
      return
    fi
  done
  fail "Python 3.11, 3.12 or 3.13 with the venv module is needed${PYTHON:+, $PYTHON is not};" \
    "set PYTHON=/path/to/python3.x"
}

# Runs pip quietly; what it says goes to the log and is shown only if it fails.
pip_install() {
  if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint "$constraints" "$@" >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    fail "pip could not install ${*: -1}; the whole output is in $log"
  fi
}

install_torch() {
  local version
  version="$(sed -n 's/^torch==//p' "$constraints")"
  if "$venv/bin/python" -c 'import torch' >/dev/null 2>&1; then
    return
  fi
  if [ "$(uname -s)" = Linux ] && ! nvidia-smi >/dev/null 2>&1; then
    if "$venv/bin/python" -m pip install --quiet --no-index --no-deps "torch==$version" \
      >>"$log" 2>&1; then
      say "setup: torch $version (CPU) from local files"
      return
    fi
    if "$venv/bin/python" -c \
      "import urllib.request as u; u.urlopen('$cpu_index/torch/', timeout=3)" >/dev/null 2>&1; then
      say "setup: downloading torch $version (CPU, about 200 MB)"
      pip_install --no-deps --index-url "$cpu_index" "torch==$version"
      return
    fi
    say "setup: no CPU build of torch within reach; downloading the default build (several GB)"
  else
    say "setup: downloading torch $version"
  fi
  pip_install "torch==$version"
}

if ! "$venv/bin/python" -c 'pass' >/dev/null 2>&1; then
  python="$(find_python)" || exit 1
  say "setup: creating $venv with $("$python" --version)"
  "$python" -m venv --clear "$venv" || fail "$python could not create $venv"
fi
mkdir -p "$venv"
: >"$log"
install_torch
say "setup: installing nardy-rl${extras:+ with $extras} into $venv (a minute or two)"
pip_install --editable ".${extras:+[$extras]}"
