#!/bin/bash
# Starts the server process and publishes its address. The script file is copied beside the page: the operation's own
# folder is gone when it ends.
set -euo pipefail
dir=$(ctx local-deployment-workdir)/$(ctx instance runtime-properties page_dir)
ctx download-resource scripts/server.js "@{\"target_path\": \"$dir/server.js\"}" > /dev/null
read -r port word < <(node "$dir/server.js" start "$dir")
ctx instance runtime-properties stop_word "$word"
ctx instance runtime-properties url "http://127.0.0.1:$port/"
ctx logger info "the server answers on port $port"
