#!/usr/bin/env bash
# venv.sh PYTHON DIR: make a virtual environment, installing what Debian needs for it if we may.
set -eu
python=$1 dir=$2
[ -x "$dir/bin/python" ] && "$dir/bin/python" -m pip --version >/dev/null 2>&1 && exit 0
[ -n "$python" ] || { echo "sanderling needs Python 3.11 or newer: apt-get install python3" >&2; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  { echo "sanderling needs Python 3.11 or newer; $python is $("$python" --version)" >&2; exit 1; }
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
  else
    echo "Python's venv module is missing: apt-get install python3-venv" >&2; exit 1
  fi
fi
"$python" -m venv "$dir"
