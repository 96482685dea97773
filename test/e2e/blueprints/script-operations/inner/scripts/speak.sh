#!/bin/bash
echo "inner speaks as $(ctx node name)"
