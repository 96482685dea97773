#!/bin/bash
set -e
target=$TMPDIR/deep/page
path=$(ctx download-resource-and-render texts/page.txt "@{\"target_path\": \"$target\", \"template_variables\": {\"who\": \"you\"}}")
[ "$path" = "$target" ]
cat "$path"; echo
cat "$(ctx download-resource-and-render texts/page.txt '@{"template_variables": {"who": "me"}}')"; echo
basename "$(ctx download-resource texts/page.txt)"
ctx download-resource no/such.txt || echo "refused $?"
