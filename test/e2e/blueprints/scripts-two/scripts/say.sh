#!/bin/bash
ctx logger info "script two says $word"
test "$word" != never
