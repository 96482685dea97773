#!/bin/bash
rm -r /tmp/on-host
