"""Following executions of other deployments."""
