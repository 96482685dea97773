#!/bin/sh
# Does nothing.
exit 0
