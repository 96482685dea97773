"""The ctx proxy as plugins know it that run programs of their own."""
