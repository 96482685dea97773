#!/bin/bash
set -euo pipefail
dir=$(ctx instance runtime-properties dir)
case "$dir" in
  */baton-hello-??????) rm -rf "$dir" ;;
  *) ctx abort-operation "refusing to remove \"$dir\": it is no folder of this blueprint" ;;
esac
ctx logger info "page removed"
