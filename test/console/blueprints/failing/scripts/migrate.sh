#!/bin/bash
ctx logger info "Migrating the schema of the shop to version 42"
ctx logger warning "Table orders has 1,204,331 rows: this takes a while"
echo "ERROR: could not extend file base/16401: No space left on device" >&2
exit 3
