#!/bin/bash
echo "op of $(ctx node name)"
