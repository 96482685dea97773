#!/bin/bash
ctx logger info "script one says $word"
test "$word" != never
