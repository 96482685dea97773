#!/bin/bash
echo "plugin folder $(ctx plugin workdir)"
echo x > "$(ctx plugin workdir)/left"
