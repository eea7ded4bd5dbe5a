#!/usr/bin/env bash
# system.sh [browser]: install missing Debian packages, as root: a browser and a library for its driver; for the tests also
# iproute2 (network namespaces) and git. nginx is not installed, because its package starts a server; its tests run if it
# is there.
set -eu
missing=()
command -v chromium >/dev/null || missing+=(chromium)
if [ "${1:-}" != browser ]; then
  command -v git >/dev/null || missing+=(git)
  [ -x /sbin/ip ] || command -v ip >/dev/null || missing+=(iproute2)
fi
/sbin/ldconfig -p | grep -q 'libatomic\.so\.1' || missing+=(libatomic1)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "not installed, because that needs root: apt-get install ${missing[*]}" >&2
fi
