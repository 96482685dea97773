#!/bin/sh
if [ "$(ctx operation retry_number)" = 1 ]; then ctx returns third-time; else exit 1; fi
