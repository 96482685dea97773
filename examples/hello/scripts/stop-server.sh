#!/bin/bash
set -euo pipefail
url=$(ctx instance runtime-properties url)
word=$(ctx instance runtime-properties stop_word)
program=$(ctx download-resource scripts/server.js)
node "$program" stop "$url" "$word"
ctx logger info "the server of $url stopped"
