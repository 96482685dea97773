"""Marks of functions that serve as operations and workflows; the function itself stays what it is."""
import os


def _marking(marks):
    def decorate(function=None, **given):
        if function is None:
            return lambda f: decorate(f, **given)
        for name, (attribute, default) in marks.items():
            setattr(function, attribute, given.get(name, default))
        return function
    return decorate


operation = _marking({'resumable': ('resumable', False)})
task = operation
_workflow = _marking({
    'resumable': ('resumable', False),
    'system_wide': ('workflow_system_wide', False),
})


def workflow(function=None, **given):
    """Marks workflow code. With resumable=True in a workflow script the code may be run again from its beginning."""
    if given.get('resumable') and os.environ.get('BATON_SCRIPT_KIND') == 'workflow':
        from cloudify.workflows.engine_call import submit
        submit(isResumable=True)
    return _workflow(function, **given)
