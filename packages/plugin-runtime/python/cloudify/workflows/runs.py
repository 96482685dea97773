"""Work under way: hands tasks to the engine, waits for them, and does what they ask of the code."""
import json
import threading

from cloudify import exceptions
from cloudify._values import text_of
from cloudify.workflows import api
from cloudify.workflows.engine_call import engine, submit
from cloudify.workflows.handlers import HandlerResult, decision_of, milliseconds

_THREADS = 8
_lock = threading.Lock()
_places = threading.BoundedSemaphore(_THREADS)
_tasks = []
_by_key = {}
_count = [0]
_attended = {}
# Why a step could not be answered.
_lost = []
# Held while handlers change the graph and what they added is handed over.
_handling = threading.RLock()


def know(task):
    with _lock:
        _tasks.append(task)


def next_key():
    """Counts up: code that runs again gives the same work the same keys, as long as it does it in the same order."""
    with _lock:
        _count[0] += 1
        return str(_count[0])


def start(works, tasks):
    """Submits the items of tasks; lifecycle items stand for many tasks each."""
    of_key = dict((work['key'], task) for work, task in zip(works, tasks))
    for task in tasks:
        task.keys = []
    for key in submit(items=works):
        # Keys of lifecycle tasks: that of the item, and a number.
        task = of_key.get(key) or of_key.get(key.rpartition('/')[0])
        if task is not None:
            task.keys.append(key)
            _by_key[key] = task


def look(task):
    """How the task is now, or None when the engine has not said yet."""
    if not task.keys:
        return None
    found = engine('wf_tasks', keys=task.keys[:1])[0]
    if found is not None:
        task.facts = found
    return found


def ended(task):
    facts = look(task)
    return facts is not None and facts['state'] == 'succeeded'


class _Failed(exceptions.WorkflowFailed):
    """A failure of a task that its code hears of; `task_failure` is what its execution ends with when nobody catches it."""
    task_failure = None


class _FailedForGood(exceptions.NonRecoverableError, _Failed):
    pass


class _FailedAgain(exceptions.RecoverableError, _Failed):
    pass


class _AskedAgain(exceptions.OperationRetry, _Failed):
    pass


_FailedForGood.__name__ = 'NonRecoverableError'
_FailedAgain.__name__ = 'RecoverableError'
_AskedAgain.__name__ = 'OperationRetry'


def exception_of(error, description=None):
    """The exception for what the engine says of a failure; None without one."""
    if error is None:
        return None
    kind = _FailedForGood
    if error.get('type') == 'OperationRetry':
        kind = _AskedAgain
    elif error.get('recoverable'):
        kind = _FailedAgain
    found = kind(error['message'])
    found.task_failure = description
    return found


def description_of(facts):
    """What failed, as a failed execution says it."""
    about = ' (%s)' % facts['about'] if facts.get('about') else ''
    error = facts['error']
    return 'Task failed: %s%s: %s `%s`' % (facts['name'], about, error.get('type') or 'Error', error['message'])


def error_dict(error):
    """A failure in the shape in which handlers find it in task.error."""
    if error is None:
        return None
    known = 'RecoverableError' if error.get('recoverable') else 'NonRecoverableError'
    return {'message': error['message'], 'exception_type': error.get('type') or known, 'known_exception_type': known,
            'known_exception_type_args': [], 'known_exception_type_kwargs': {'causes': []}, 'append_message': False,
            'traceback': error.get('traceback')}


def wait(tasks, wait_after_fail=None, more=None):
    """Returns when all have succeeded. Raises WorkflowFailed or ExecutionCancelled when they cannot any more.

    `more()` starts what handlers have added meanwhile, and answers those tasks: they are waited for as well.
    """
    waiting = list(tasks)
    scope = None
    is_over = False
    while True:
        added = _more(more)
        if is_over and not added:
            return
        if added or scope is None:
            waiting += added
            scope = next_scope()
        keys = [key for task in waiting for key in task.keys]
        if not keys:
            return
        news = engine('wf_wait', scope=scope, keys=keys, wait_after_fail=wait_after_fail, attended=list(_attended))
        if _lost:
            raise exceptions.NonRecoverableError('The code of the workflow cannot go on: %s' % text_of(_lost[0]))
        for facts in news['asks']:
            _attend(facts)
        end = news['end']
        is_over = end is not None
        if is_over and end['kind'] == 'cancelled':
            raise api.ExecutionCancelled('The execution is being cancelled')
        if is_over and end['kind'] != 'succeeded':
            raise exceptions.WorkflowFailed(end['message'])


def _more(more):
    with _handling:
        return list(more()) if more else []


_scopes = [0]


def next_scope():
    with _lock:
        _scopes[0] += 1
        return _scopes[0]


def _attend(facts):
    # As the host tells asks apart: a step may ask what follows from its own end.
    run = '%s:%s:%s' % (facts['idx'], facts['attempt'], facts['state'])
    with _lock:
        # Several threads may wait for one task.
        if run in _attended:
            return
        _attended[run] = True
    task = _by_key.get(facts['key'])
    if facts['state'] == 'response-sent':
        _answer(task, facts)
        return
    _places.acquire()
    _aside(_carry_out, task, facts)


def _aside(run, *arguments):
    thread = threading.Thread(target=run, args=arguments)
    thread.daemon = True
    thread.start()


def _answer(task, facts):
    """Tells what the handler decides. What it raises fails the task, and goes to whoever waits."""
    added = None
    try:
        with _handling:
            answer = task.ask(facts)
            other = answer.retried_task if answer.action == HandlerResult.HANDLER_RETRY else None
            if other is not None and not _may_retry(task, answer):
                task.graph.remove_task(other)
                answer = HandlerResult.fail()
            elif other is not None:
                added = other.graph.start_added()
    except BaseException:
        submit(decisions=[decision_of(facts, HandlerResult.fail())])
        raise
    if added is None:
        submit(decisions=[decision_of(facts, answer)])
    else:
        _aside(_replace, facts, other.graph, added)


def _may_retry(task, answer):
    return answer.ignore_total_retries or task.total_retries == -1 or task.current_retries < task.total_retries


def _replace(facts, graph, added):
    """Other tasks run in place of the one that ended: what waits for that one goes on when these have succeeded."""
    end = HandlerResult.fail()
    try:
        wait(added, more=graph.start_added)
        end = HandlerResult.ignore()
    except (exceptions.WorkflowFailed, api.ExecutionCancelled):
        pass
    except BaseException as error:
        _lost.append(error)
    submit(decisions=[decision_of(facts, end)])


def _carry_out(task, facts):
    step = {'idx': facts['idx'], 'attempt': facts['attempt'], 'result': None, 'error': None}
    try:
        result = task.carry_out()
        step['result'] = _storable(task, result)
    # Also SystemExit: it ends this thread alone, and a step that is not answered never ends.
    except BaseException as error:
        if isinstance(error, Exception):
            error.task_failure = description_of({'name': task.name, 'error': {
                'type': type(error).__name__, 'message': text_of(error)}})
            task.own_end = (error,)
        step['error'] = {
            'type': type(error).__name__,
            'message': text_of(error),
            'recoverable': not isinstance(error, (exceptions.NonRecoverableError, TypeError)),
            'retryAfterMs': milliseconds(getattr(error, 'retry_after', None)),
        }
    finally:
        _places.release()
    _tell(step)


def _storable(task, result):
    """The result as the engine keeps it: null for what is no JSON, which the code of this run has all the same."""
    task.own_end = None
    try:
        return json.loads(json.dumps(result, allow_nan=False))
    except (TypeError, ValueError):
        task.own_end = (result,)
        return None


def drop(task):
    """It does not start any more, if it has not."""
    submit(drop=task.keys)


def obey(answer):
    """What a success handler of a task that cannot be repeated decides."""
    if answer is not None and answer.action in (HandlerResult.HANDLER_FAIL, HandlerResult.HANDLER_RETRY):
        raise exceptions.NonRecoverableError('The success handler decided that it failed')


def failed_member(subgraph):
    """The member that failed, at any depth."""
    for member in list(subgraph.all_members.values()):
        if member.is_subgraph:
            found = failed_member(member)
            if found is not None:
                return found
        facts = look(member)
        if facts and facts['error'] and facts['error'].get('type') != 'NotStarted':
            return member
    return None


def _tell(step):
    """What cannot be told fails its step; when that cannot be told either, the code cannot go on."""
    try:
        try:
            submit(steps=[step])
        except Exception as error:
            message = 'The result of the step cannot be told to the manager: %s' % text_of(error)
            told = {'type': 'NonRecoverableError', 'message': message, 'recoverable': False}
            submit(steps=[dict(step, result=None, error=told)])
    except Exception as error:
        _lost.append(error)


def finish():
    """At the end of the code: results that nobody asked for must be good as well."""
    left = unsettled()
    if left:
        wait(left, wait_after_fail=0)


def unsettled():
    """Tasks that were started at once and whose result nobody asked for."""
    with _lock:
        return [task for task in _tasks if task.keys and not task.is_settled]
