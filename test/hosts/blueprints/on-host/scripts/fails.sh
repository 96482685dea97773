#!/bin/bash
echo "about to fail on $(hostname)" >&2
exit 17
