#!/bin/bash
# One line when it begins and one when it ends; a short write with O_APPEND is never torn.
run="script-$$-$RANDOM$RANDOM"
execution=$(ctx execution-id)
task=$(ctx task-id)
line() {
  echo "{\"t\":$(date +%s%3N),\"phase\":\"$1\",\"execution\":\"$execution\",\"task\":\"$task\",\"run\":\"$run\",\"pid\":$PPID}" >>"$LEDGER"
}
line start
sleep 0.3
line end
ctx returns "$run"
