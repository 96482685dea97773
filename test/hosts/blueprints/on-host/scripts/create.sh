#!/bin/bash
set -e
mkdir -p /tmp/on-host
echo "made by $(ctx instance id)" >/tmp/on-host/made
echo "made on $(hostname)"
ctx instance runtime-properties where "@{\"host\": \"$(hostname)\", \"agent\": \"${AGENT_NAME-}\", \"user\": \"$(id -un)\"}"
