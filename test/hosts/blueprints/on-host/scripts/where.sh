#!/bin/bash
# Where does this run?
ctx instance runtime-properties where "@{\"host\": \"$(hostname)\", \"agent\": \"${AGENT_NAME-}\", \"user\": \"$(id -un)\"}"
