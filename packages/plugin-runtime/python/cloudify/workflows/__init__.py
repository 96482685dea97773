"""What the code of workflows imports. The engine does the work; this hands it over and waits."""
from cloudify.workflows import api
from cloudify.workflows.workflow_context import ctx, parameters

__all__ = ['api', 'ctx', 'parameters']
