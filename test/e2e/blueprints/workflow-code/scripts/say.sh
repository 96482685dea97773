#!/bin/sh
ctx logger info "op says ${WORD:-nothing}"
ctx instance runtime-properties said "${WORD:-nothing}"
ctx returns "said ${WORD:-nothing}"
