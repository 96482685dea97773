#!/bin/sh
:
