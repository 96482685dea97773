#!/bin/bash
# Says lines for a while. Each run is two lines of the ledger of the host, which is outside of the system.
set -e
execution=$(ctx execution-id)
instance=$(ctx instance id)
run="$execution $instance $$"
echo "start $run" >>/srv/ledger
for line in $(seq "$lines"); do
  echo "line $line"
  sleep "$pause"
done
echo "end $run" >>/srv/ledger
