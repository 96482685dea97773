#!/bin/bash
# With line ends of Windows, as editors there write them.
mkdir -p ~/site
ctx download-resource-and-render resources/page.html ~/site/page.html
ctx logger info "made by $(id -un): $greeting"
ctx instance runtime-properties page "$(cat ~/site/page.html)"
