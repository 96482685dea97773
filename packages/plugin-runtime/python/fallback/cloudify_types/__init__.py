"""What plugins use of the operations behind components and shared resources. Those themselves are the worker's own."""
