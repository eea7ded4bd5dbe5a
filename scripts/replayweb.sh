#!/usr/bin/env bash
# replayweb.sh: fetch replayweb.page, which a test opens WACZ files with, into build/ (2 MB, once). Without npm or a network
# that test is skipped.
set -eu
version=2.4.6
folder=build/replayweb.page-$version
[ -e "$folder/sw.js" ] && exit 0
mkdir -p "$folder.draft"
if command -v npm >/dev/null && timeout 120 npm pack "replaywebpage@$version" --silent --pack-destination "$folder.draft" >/dev/null &&
  tar -xzf "$folder.draft"/*.tgz -C "$folder.draft" --strip-components 1 package/ui.js package/sw.js package/index.html; then
  mv "$folder.draft" "$folder"
else
  rm -r "$folder.draft"
  echo "replayweb.page is not tested: npm could not fetch it" >&2
fi
