#!/bin/bash
# A second instance cannot be made.
[ "$(ctx instance index)" = 1 ]
