#!/bin/bash
# Whatever a careless script does with a secret that it was given. The first attempt fails with it.
set -u
ctx logger info "the secret is $CANARY"
echo "on standard output: $CANARY"
echo "on standard error: $CANARY" >&2
if [ "$(ctx operation retry_number)" = 0 ]; then
  echo "failed with $CANARY" >&2
  exit 1
fi
ctx returns "answered $CANARY"
