#!/bin/sh
ctx logger info "slow begins"
sleep "${SECONDS_LONG:-5}"
ctx returns done
