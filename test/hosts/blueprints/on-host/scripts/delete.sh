#!/bin/bash
rm -rf /tmp/on-host
