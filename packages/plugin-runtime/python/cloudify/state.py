"""The context of the operation that runs in this process."""
from cloudify.context import ctx, ctx_parameters
from cloudify.exceptions import NotInContext

__all__ = ['ctx', 'ctx_parameters', 'current_ctx', 'current_workflow_ctx', 'NotInContext', 'workflow_ctx',
           'workflow_parameters']


class _CurrentContext(object):
    """There is one context in a process; set, push and clear serve the tests of plugins."""

    def __init__(self):
        self._stack = []

    def set(self, context, parameters=None):
        self._stack.append((context, parameters or {}))

    def clear(self):
        self._stack = []

    def push(self, context, parameters=None):
        stack = self._stack

        class _Pushed(object):
            def __enter__(self):
                stack.append((context, parameters or {}))
                return context

            def __exit__(self, *_):
                stack.pop()
        return _Pushed()

    def get_ctx(self):
        return self._stack[-1][0] if self._stack else ctx

    def get_parameters(self):
        return self._stack[-1][1] if self._stack else ctx_parameters


current_ctx = _CurrentContext()
current_workflow_ctx = _CurrentContext()


def __getattr__(name):
    # Workflow names only for those who ask: operations need not load them.
    if name in ('workflow_ctx', 'workflow_parameters'):
        from cloudify.workflows import ctx as found, parameters
        return found if name == 'workflow_ctx' else parameters
    raise AttributeError(name)
