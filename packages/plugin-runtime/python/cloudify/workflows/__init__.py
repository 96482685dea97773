"""What the code of workflows imports. The engine does the work; this hands it over and waits."""
from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)

from cloudify.workflows import api  # noqa: E402
from cloudify.workflows.workflow_context import ctx, parameters  # noqa: E402

__all__ = ['api', 'ctx', 'parameters']
