#!/bin/bash
# The server learns where the page is.
set -euo pipefail
ctx source instance runtime-properties page_dir "$(ctx target instance runtime-properties dir)"
