#!/bin/sh
ctx logger info "asleep"
sleep "$SECONDS_TO_SLEEP"
