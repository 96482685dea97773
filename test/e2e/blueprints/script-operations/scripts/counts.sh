#!/bin/bash
set -e
count=$(ctx instance runtime-properties count 2> /dev/null || echo 0)
# The other execution reads the same number meanwhile.
sleep 2
ctx instance runtime-properties count "@$((count + 1))"
