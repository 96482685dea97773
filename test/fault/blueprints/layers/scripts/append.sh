#!/bin/bash
# One line when it begins and one when it ends; a short write with O_APPEND is never torn.
run="script-$$-$RANDOM$RANDOM"
# The worker's process: the next Node.js above.
worker=$PPID
while [ "$worker" -gt 1 ] && [[ $(readlink "/proc/$worker/exe") != */node ]]; do
  worker=$(cut -d' ' -f4 "/proc/$worker/stat")
done
execution=$(ctx execution-id)
task=$(ctx task-id)
line() {
  echo "{\"t\":$(date +%s%3N),\"phase\":\"$1\",\"execution\":\"$execution\",\"task\":\"$task\",\"run\":\"$run\",\"pid\":$worker}" >>"$LEDGER"
}
line start
sleep 0.3
line end
ctx returns "$run"
