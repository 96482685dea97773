#!/bin/bash
echo "text $(ctx get-resource texts/place.txt)"
