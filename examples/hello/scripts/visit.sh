#!/bin/bash
# Reads the page as a client would.
set -euo pipefail
url=$(ctx instance runtime-properties server_url)
seen=$(node -e 'fetch(process.argv[1]).then(async (r) => { if (!r.ok) process.exit(1); console.log((await r.text()).match(/<h1>(.*)<\/h1>/)[1]) })' "$url")
ctx instance runtime-properties seen "$seen"
ctx logger info "the page says: $seen"
