"""Runs Python as an operation or as the code of a workflow.

baton_runner.py FILE python|guess|workflow: a script; baton_runner.py MODULE.FUNCTION function|workflow-function: a function
of an installed plugin, which is called with the inputs and `ctx`.

The script talks to the manager through the ctx proxy of its run (CTX_SOCKET_URL). What it raises is described to the
proxy; changed runtime properties are handed over at the end, also after an exception. With `guess` the text may turn
out not to be Python: exit code 97, before anything has happened.
"""
import os
import sys
import traceback

NOT_PYTHON = 97
# Characters of each text of an error: one call to the proxy must carry them all.
_MAX_TEXT = 256 * 1024


def _load(path, is_guess):
    with open(path, 'rb') as script:
        source = script.read()
    try:
        return compile(source, path, 'exec')
    except (SyntaxError, ValueError):
        if is_guess:
            sys.exit(NOT_PYTHON)
        raise


def _describe(error, path):
    from cloudify import exceptions
    from cloudify._values import text_of
    frames = traceback.extract_tb(error.__traceback__)
    # Frames of this file say nothing to the author of the script.
    shim = os.path.dirname(os.path.abspath(__file__))
    own = [f for f in frames if not f.filename.startswith(shim)]
    text = ''.join(traceback.format_list(own) + traceback.format_exception_only(type(error), error))
    if isinstance(error, exceptions.OperationRetry):
        kind = 'retry'
    elif isinstance(error, exceptions.NonRecoverableError):
        kind = 'fatal'
    else:
        kind = 'retryable'
    causes = getattr(error, 'causes', None)
    # A task of a workflow that failed says so better than the line of the code that asked for its result.
    task_failure = getattr(error, 'task_failure', None)
    return {
        'op': 'raised',
        'kind': kind,
        'exception_type': 'WorkflowFailed' if task_failure else type(error).__name__,
        'message': text_of(task_failure or error)[:_MAX_TEXT],
        'traceback': text[:_MAX_TEXT],
        'retry_after': _number(getattr(error, 'retry_after', None)),
        'causes': [_cause(c) for c in causes if isinstance(c, dict)] if isinstance(causes, (list, tuple)) else [],
    }


def _number(value):
    """A number that JSON can carry, or None: whatever an error carries, its kind and message are told."""
    if isinstance(value, (int, float)) and abs(value) < 1e300:
        return value
    return None


def _cause(cause):
    from cloudify._values import text_of
    return dict((name, text_of(cause.get(name, ''))[:_MAX_TEXT]) for name in ('type', 'message', 'traceback'))


def add_fallbacks():
    """Libraries that code finds where it brings none of its own: behind everything else."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fallback')
    if folder not in sys.path:
        sys.path.append(folder)


def _script(path, mode):
    """What runs the script. Raises what is wrong with its text."""
    code = _load(path, mode == 'guess')
    sys.argv = [path]
    return lambda: exec(code, {'__name__': '__main__', '__file__': path, '__builtins__': __builtins__})


def _call(mapping, is_workflow):
    """Calls the function of a plugin; what it returns is the result of the operation."""
    from cloudify import context, exceptions, utils
    function = utils.get_func(mapping)
    if is_workflow:
        _begin_workflow(function)
        from cloudify.workflows import api, ctx, parameters
        if function(ctx=ctx, **dict(parameters.items())) == api.EXECUTION_CANCELLED_RESULT:
            raise api.ExecutionCancelled('The code of the workflow gave in to a cancel')
        return
    if os.environ.get('BATON_IS_RESUMED') and not getattr(function, 'resumable', False):
        raise exceptions.NonRecoverableError(
            'Cannot resume - operation not resumable: %s (its worker was lost while it ran; resume the execution to run '
            'it again)' % mapping)
    inputs = dict(context.ctx_parameters.items())
    result = function(**dict(inputs, ctx=context.ctx))
    if result is not None:
        context.ctx.returns(result)


def _begin_workflow(function):
    if getattr(function, 'resumable', False):
        from cloudify.workflows.engine_call import submit
        submit(isResumable=True)


def main():
    target, mode = sys.argv[1], sys.argv[2]
    is_workflow = mode.startswith('workflow')
    run = failure = None
    try:
        run = (lambda: _call(target, is_workflow)) if mode.endswith('function') else _script(target, mode)
    except (SyntaxError, ValueError) as error:
        failure = error
    add_fallbacks()
    from cloudify import context
    status = 0
    try:
        if run is None:
            raise failure
        os.environ['BATON_SCRIPT_KIND'] = mode
        run()
        if is_workflow:
            from cloudify.workflows import runs
            runs.finish()
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            status = error.code or 0
        else:
            sys.stderr.write('%s\n' % (error.code,))
            status = 1
    except BaseException as error:
        context.call(_describe(error, target))
        status = 1
    try:
        context.save_changes()
    except Exception as error:
        if status == 0:
            context.call(_describe(error, target))
            status = 1
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        # The script has closed it.
        pass
    sys.exit(status)


if __name__ == '__main__':
    main()
