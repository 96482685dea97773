#!/bin/bash
# Writes the page of this deployment into a folder of its own and remembers where it is.
set -euo pipefail
dir=$(mktemp -d "$(ctx node properties base_dir)/baton-hello-XXXXXX")
cat > "$dir/index.html" <<HTML
<!doctype html>
<title>$(ctx node properties greeting)</title>
<h1>$(ctx node properties greeting), $(ctx node properties audience)!</h1>
<p>Deployment $(ctx deployment id), signed $SIGNATURE</p>
HTML
ctx instance runtime-properties dir "$dir"
ctx logger info "page written to $dir"
