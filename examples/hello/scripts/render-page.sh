#!/bin/bash
# Writes the page into the working folder of the deployment, which later operations find again, and remembers where.
set -euo pipefail
page=page-$(ctx instance id)
dir=$(ctx local-deployment-workdir)/$page
mkdir -p "$dir"
cat > "$dir/index.html" <<HTML
<!doctype html>
<title>$(ctx node properties greeting)</title>
<h1>$(ctx node properties greeting), $(ctx node properties audience)!</h1>
<p>Deployment $(ctx deployment id), signed $SIGNATURE</p>
HTML
ctx instance runtime-properties dir "$page"
ctx logger info "page written to $dir"
