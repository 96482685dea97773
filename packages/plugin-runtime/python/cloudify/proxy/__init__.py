"""The ctx proxy as plugins know it that run programs of their own: the command, and a server of a ctx of theirs."""
