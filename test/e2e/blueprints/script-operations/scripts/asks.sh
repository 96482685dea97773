#!/bin/bash
[ -n "$(ctx operation retry_number)" ] && { echo "asked for it"; exit 0; }
ctx retry-operation "not yet" '@{"retry_after": 0.2}'
echo "after the request"
exit 0
