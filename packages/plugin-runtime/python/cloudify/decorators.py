"""Marks of functions that serve as operations and workflows; the function itself stays what it is."""
import functools
import os


def _marking(marks):
    def decorate(func=None, **given):
        if func is None:
            return lambda f: decorate(f, **given)
        for name, (attribute, default) in marks.items():
            setattr(func, attribute, given.get(name, default))
        return func
    return decorate


operation = _marking({'resumable': ('resumable', False)})
task = operation
_workflow = _marking({
    'resumable': ('resumable', False),
    'system_wide': ('workflow_system_wide', False),
})


def workflow(func=None, **given):
    """Marks workflow code. With resumable=True in a workflow script the code may be run again from its beginning."""
    if given.get('resumable') and os.environ.get('BATON_SCRIPT_KIND') == 'workflow':
        from cloudify.workflows.engine_call import submit
        submit(isResumable=True)
    return _workflow(func, **given)


def serial_operation(threshold=0, workflows=None, states=None, **marks):
    """An operation that waits, by tries, until the instances of its node with a lower index are in one of the states.

    In the given workflows only; with a threshold no longer than until so many instances are in such a state.
    """
    workflows = workflows or ['install']
    states = states or ['started']

    def decorate(func):
        @functools.wraps(func)
        def in_turn(*args, **kwargs):
            from cloudify import context, exceptions, manager, utils
            own = kwargs.get('ctx') or context.ctx
            if own.workflow_id in workflows:
                found = utils.get_instances_of_node(manager.get_rest_client(), own.deployment.id, own.node.id)
                ready = [i for i in found if i['state'] in states]
                before = [i for i in found if i['index'] < own.instance.index and i['state'] not in states]
                if before and (threshold == 0 or threshold <= len(ready)):
                    raise exceptions.CloudifySerializationRetry(
                        'waits for the node instances before this one: %s' % ', '.join(
                            '%s is %s' % (i['id'], i['state']) for i in before))
            return func(*args, **kwargs)
        return operation(in_turn, **marks)
    return decorate
