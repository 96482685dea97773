#!/bin/bash
set -euo pipefail
pid=$(ctx instance runtime-properties pid)
[ -n "$pid" ] && kill "$pid" 2>/dev/null || true
ctx logger info "server $pid stopped"
