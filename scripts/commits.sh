#!/usr/bin/env bash
# commits.sh [RANGE]: check that subjects of commits are `area: imperative`, at most 72 characters. Checks commits that
# are not on the main branch of the origin, or the last 20 if there are none.
set -eu
range=${1:-origin/main..HEAD}
subjects=$(git log --no-merges --format=%s "$range" 2>/dev/null) || exit 0 # not a clone
[ -n "$subjects" ] || subjects=$(git log --no-merges --format=%s -20)
bad=$(grep -vE '^[a-z][a-z0-9_/, -]*: .*[^.]$|^Revert "' <<<"$subjects" || true)
bad+=$(awk 'length($0) > 72' <<<"$subjects")
[ -z "$bad" ] || { printf 'commit subjects are `area: imperative`, at most 72 characters:\n%s\n' "$bad" >&2; exit 1; }
