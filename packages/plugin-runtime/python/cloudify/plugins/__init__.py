"""Parts of the built-in workflows, for workflow code."""
from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
