#!/bin/bash
# The visitor learns the server's address.
set -euo pipefail
ctx source instance runtime-properties server_url "$(ctx target instance runtime-properties url)"
