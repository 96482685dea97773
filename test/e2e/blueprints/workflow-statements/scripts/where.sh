#!/bin/bash
echo "agent ${AGENT_NAME-none}"
