"""Parts of the built-in workflows, for workflow code."""
