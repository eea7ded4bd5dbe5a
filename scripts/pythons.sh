#!/usr/bin/env bash
# pythons.sh MAIN: print other versions of Python from 3.11 to 3.14 that are installed.
set -eu
for version in 3.13 3.14 3.12 3.11; do
  [ "$version" = "${1:-}" ] && continue
  for python in "$(command -v "python$version" || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
    if [ -x "$python" ] && "$python" -c 'import sqlite3, ssl' 2>/dev/null; then
      "$python" -c 'import sys; print(sys.executable)'
      break
    fi
  done
done
