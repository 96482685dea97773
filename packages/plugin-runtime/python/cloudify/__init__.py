"""What operations written in Python import: a shim that talks to the manager through the ctx proxy of the run."""
from pkgutil import extend_path

# Modules that are not here are those of the library that a plugin brings in its wagon.
__path__ = extend_path(__path__, __name__)

from cloudify.context import ctx, ctx_parameters as inputs  # noqa: E402

__all__ = ['ctx', 'inputs']
