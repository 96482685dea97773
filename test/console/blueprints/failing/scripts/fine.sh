#!/bin/bash
ctx logger info "done"
