#!/bin/bash
set -e
mkdir -p "$(ctx local-deployment-workdir)/texts"
echo "of the deployment" > "$(ctx local-deployment-workdir)/texts/place.txt"
