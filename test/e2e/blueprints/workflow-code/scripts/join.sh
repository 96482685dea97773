#!/bin/sh
ctx logger info "$(ctx source instance id) joins $(ctx target instance id)"
