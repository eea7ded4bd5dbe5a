#!/usr/bin/env bash
# bench.sh PYTHON [ARGS]: install the compared crawlers in an environment of their own, then run the crawl benchmark.
set -eu
python=$1; shift
missing=()
for program in nginx wrk wget wget2 httrack; do command -v "$program" >/dev/null || missing+=("$program"); done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "missing crawlers: apt-get install ${missing[*]}" >&2
    command -v nginx >/dev/null || exit 1
  fi
fi
data=${BENCH_DATA:-bench-data}
if [ ! -x "$data/peers/bin/scrapy" ]; then
  bash "$(dirname "$0")/venv.sh" "$python" "$data/peers"
  "$data/peers/bin/python" -m pip install --quiet --disable-pip-version-check scrapy 'crawlee[parsel]' lxml
fi
exec "$python" -m benchmarks.crawl.crawlers_compared --data "$data" --write "$@"
