#!/bin/bash
# Says lines for a while. Each run is two lines of the ledger of the host, which is outside of the system.
run="$(ctx execution-id) $(ctx instance id) $$"
echo "start $run" >>/srv/ledger
for line in $(seq "$lines"); do
  echo "line $line"
  sleep "$pause"
done
echo "end $run" >>/srv/ledger
