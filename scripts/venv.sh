#!/usr/bin/env bash
# venv.sh PYTHON DIR: make a virtual environment with pip. Needs neither root nor Debian's python3-venv:
# pip.py installs pip.
set -eu
python=$1 dir=$2
[ -x "$dir/bin/python" ] && "$dir/bin/python" -m pip --version >/dev/null 2>&1 && exit 0
[ -n "$python" ] || { echo "sanderling needs Python 3.11 or newer: apt-get install python3" >&2; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  { echo "sanderling needs Python 3.11 or newer; $python is $("$python" --version)" >&2; exit 1; }
if "$python" -c 'import venv; from ensurepip import bootstrap' 2>/dev/null; then
  exec "$python" -m venv "$dir"
fi
[ -e "$dir" ] && made='' || made=$dir
if "$python" -m venv --without-pip "$dir" && "$python" "$(dirname "$0")/pip.py" "$dir/bin/python"; then exit 0; fi
[ -z "$made" ] || rm -rf "$made"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
echo "no virtual environment could be made; as root: apt-get install python$version-venv, then the same command" >&2
exit 1
