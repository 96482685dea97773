"""What operations written in Python import: a shim that talks to the manager through the ctx proxy of the run."""
from cloudify.context import ctx

__all__ = ['ctx']
