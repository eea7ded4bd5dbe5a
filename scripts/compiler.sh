#!/usr/bin/env bash
# compiler.sh [install]: install a C compiler as root, or print what it is needed for: the fast page scanner is written in C.
set -eu
command -v cc >/dev/null && exit 0
if [ "${1:-}" = install ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev >/dev/null
else
  echo "no C compiler: crawls work, and take a third longer (apt-get install gcc libc6-dev; make --always-make setup)" >&2
fi
