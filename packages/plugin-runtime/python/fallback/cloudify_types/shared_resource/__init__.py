"""Workflows of shared resources, run from relationships to them."""
