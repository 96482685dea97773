#!/bin/bash
set -euo pipefail
page=$(ctx instance runtime-properties dir)
case "$page" in
  page-*/*) ctx abort-operation "refusing to remove \"$page\": it is no folder of this blueprint" ;;
  page-*) rm -rf "$(ctx local-deployment-workdir)/$page" ;;
  *) ctx abort-operation "refusing to remove \"$page\": it is no folder of this blueprint" ;;
esac
ctx logger info "page removed"
