#!/bin/sh
# Run Chromium as user "nobody", whose sandbox root cannot have: CHROMIUM_PATH=... run_unprivileged.sh ARGUMENTS...
for argument; do
  case "$argument" in
    --user-data-dir=*)
      HOME="${argument#*=}"
      chown 65534:65534 "$HOME" "$TMPDIR" || exit 1
      export HOME
      ;;
  esac
done
exec setpriv --reuid 65534 --regid 65534 --clear-groups -- "$CHROMIUM_PATH" "$@"
