#!/bin/bash
# Whatever a careless script does with a secret that it was given.
set -u
ctx logger info "the secret is $CANARY"
echo "on standard output: $CANARY"
echo "on standard error: $CANARY" >&2
marker="${TMPDIR:-/tmp}/leaked-once"
if [ ! -e "$marker" ]; then
  : >"$marker"
  echo "failed with $CANARY" >&2
  exit 1
fi
ctx returns "answered $CANARY"
