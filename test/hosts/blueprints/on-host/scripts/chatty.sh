#!/bin/bash
for line in $(seq "$lines"); do echo "line $line"; done
