#!/bin/bash
ctx logger info "said by a script"
