#!/usr/bin/env bash
# system.sh: Debian packages that the tests use (a browser for the search page, a library that what drives it is linked
# with, network namespaces, git); installs what is missing if we may. Tests with nginx run where it is installed: its
# package starts a server, which we do not do to anybody's machine.
set -eu
missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v git >/dev/null || missing+=(git)
[ -x /sbin/ip ] || command -v ip >/dev/null || missing+=(iproute2)
/sbin/ldconfig -p | grep -q 'libatomic\.so\.1' || missing+=(libatomic1)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "some tests will be skipped; to run them all: apt-get install ${missing[*]}" >&2
fi
