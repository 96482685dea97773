#!/bin/bash
echo "attempt $(ctx operation retry_number)"
exit 1
