"""Parts of the script plugin that other plugins run programs with."""
