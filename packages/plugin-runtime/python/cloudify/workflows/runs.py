"""Work under way: hands tasks to the engine, waits for them, and does what they ask of the code."""
import json
import threading

from cloudify import exceptions
from cloudify._values import text_of
from cloudify.workflows import api
from cloudify.workflows.engine_call import engine, submit

_THREADS = 8
_lock = threading.Lock()
_places = threading.BoundedSemaphore(_THREADS)
_tasks = []
_by_key = {}
_count = [0]
_attended = {}
# Why a step could not be answered.
_lost = []


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


def exception_of(error):
    """An exception for what the engine says of a failure."""
    if error is None:
        return None
    if error.get('recoverable'):
        return exceptions.RecoverableError(error['message'])
    return exceptions.NonRecoverableError(error['message'])


def wait(tasks, wait_after_fail=None):
    """Returns when all have succeeded. Raises WorkflowFailed or ExecutionCancelled when they cannot any more."""
    keys = [key for task in tasks for key in task.keys]
    if not keys:
        return
    scope = next_scope()
    while True:
        news = engine('wf_wait', scope=scope, keys=keys, wait_after_fail=wait_after_fail, attended=list(_attended))
        if _lost:
            raise exceptions.NonRecoverableError('The code of the workflow cannot go on: %s' % text_of(_lost[0]))
        for facts in news['asks']:
            _attend(facts)
        end = news['end']
        if end is None:
            continue
        if end['kind'] == 'succeeded':
            return
        if end['kind'] == 'cancelled':
            raise api.ExecutionCancelled('The execution is being cancelled')
        raise exceptions.WorkflowFailed(end['message'])


_scopes = [0]


def next_scope():
    with _lock:
        _scopes[0] += 1
        return _scopes[0]


def _attend(facts):
    _attended['%s:%s' % (facts['idx'], facts['attempt'])] = True
    task = _by_key.get(facts['key'])
    if facts['state'] == 'response-sent':
        submit(decisions=[task.decide(facts)])
        return
    _places.acquire()
    thread = threading.Thread(target=_carry_out, args=(task, facts))
    thread.daemon = True
    thread.start()


def milliseconds(seconds):
    """Whole ms for the engine; None for what is no number of seconds."""
    try:
        after = int(float(seconds) * 1000)
    except (TypeError, ValueError, OverflowError):
        return None
    return after if after >= 0 else None


def _carry_out(task, facts):
    step = {'idx': facts['idx'], 'attempt': facts['attempt'], 'result': None, 'error': None}
    try:
        result = task.carry_out()
        json.dumps(result, allow_nan=False)
        step['result'] = result
    # Also SystemExit: it ends this thread alone, and a step that is not answered never ends.
    except BaseException as error:
        step['error'] = {
            'type': type(error).__name__,
            'message': text_of(error),
            'recoverable': not isinstance(error, (exceptions.NonRecoverableError, TypeError)),
            'retryAfterMs': milliseconds(getattr(error, 'retry_after', None)),
        }
    finally:
        _places.release()
    _tell(step)


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
    with _lock:
        left = [task for task in _tasks if task.keys and not task.is_settled]
    if left:
        wait(left, wait_after_fail=0)
