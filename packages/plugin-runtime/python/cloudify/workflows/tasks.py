"""Tasks of workflow code: what is to be done, and how it went."""
import uuid

from cloudify import exceptions
from cloudify.constants import (  # noqa: F401
    TASK_FAILED, TASK_PENDING, TASK_RESCHEDULED, TASK_RESPONSE_SENT, TASK_SENDING, TASK_SENT, TASK_STARTED, TASK_SUCCEEDED)
from cloudify.workflows import api, runs

INFINITE_TOTAL_RETRIES = -1
DEFAULT_TOTAL_RETRIES = INFINITE_TOTAL_RETRIES
DEFAULT_RETRY_INTERVAL = 30
DEFAULT_SUBGRAPH_TOTAL_RETRIES = 0
DEFAULT_SEND_TASK_EVENTS = True
TERMINATED_STATES = [TASK_RESCHEDULED, TASK_SUCCEEDED, TASK_FAILED]


class HandlerResult(object):
    """What follows from the end of a task: an answer of on_success and on_failure."""
    HANDLER_RETRY = 'handler_retry'
    HANDLER_FAIL = 'handler_fail'
    HANDLER_IGNORE = 'handler_ignore'
    HANDLER_CONTINUE = 'handler_continue'

    def __init__(self, action, ignore_total_retries=False, retry_after=None):
        self.action = action
        self.ignore_total_retries = ignore_total_retries
        self.retry_after = retry_after
        self.retried_task = None

    @classmethod
    def retry(cls, ignore_total_retries=False, retry_after=None):
        return cls(cls.HANDLER_RETRY, ignore_total_retries, retry_after)

    @classmethod
    def fail(cls):
        return cls(cls.HANDLER_FAIL)

    @classmethod
    def cont(cls):
        return cls(cls.HANDLER_CONTINUE)

    @classmethod
    def ignore(cls):
        return cls(cls.HANDLER_IGNORE)


class WorkflowTask(object):
    """A task, or the result of one that runs already: both have get()."""

    def __init__(self, item, name=None, info=None, total_retries=None, retry_interval=None, send_task_events=None,
                 call=None):
        self.id = str(uuid.uuid4())
        self.item = item
        self._name = name or item['item']
        self.info = info
        self.total_retries = total_retries
        self.retry_interval = retry_interval
        self.send_task_events = send_task_events
        self.on_success = None
        self.on_failure = None
        self.containing_subgraph = None
        self.call = call
        self.keys = None
        self.facts = None
        self.error = None
        self.is_settled = False
        runs.know(self)

    @property
    def name(self):
        return self._name

    @property
    def async_result(self):
        return self

    @property
    def current_retries(self):
        return self.facts['retries'] if self.facts else 0

    def is_local(self):
        return self.item['item'] != 'operation'

    is_remote = property(lambda self: not self.is_local())
    task_type = property(lambda self: 'RemoteWorkflowTask' if self.is_remote else 'LocalWorkflowTask')

    def is_nop(self):
        return (self.facts or {}).get('kind') == 'nop'

    def get_state(self):
        facts = runs.look(self)
        return facts['state'] if facts else TASK_PENDING

    state = property(get_state)

    def is_subgraph(self):
        return self.item['item'] == 'subgraph'

    def dump(self):
        return {'id': self.id, 'name': self.name, 'item': self.item}

    @property
    def result(self):
        return self.get()

    def get(self, retry_on_failure=True):
        """The result, when it is there. Raises RuntimeError when the task failed for good, ExecutionCancelled."""
        if self.keys is None:
            raise RuntimeError('task %s was not executed' % self.name)
        # Whoever asked for the result has seen what became of it.
        self.is_settled = True
        if not runs.ended(self):
            runs.wait([self], wait_after_fail=0)
        facts = runs.look(self)
        return facts['result'] if facts else None

    def work(self, key, deps, subgraph):
        """The item that is submitted."""
        item = dict(self.item, key=key, deps=deps, subgraph=subgraph)
        if self.total_retries is not None:
            item['totalRetries'] = self.total_retries
        if self.retry_interval is not None:
            item['retryIntervalMs'] = int(self.retry_interval * 1000)
        if self.send_task_events is not None:
            item['sendTaskEvents'] = bool(self.send_task_events)
        item['asksOnFailure'] = self.on_failure is not None
        item['asksOnSuccess'] = self.on_success is not None
        return item

    def carry_out(self):
        """Runs a local task; what it returns must be JSON."""
        return self.call()

    def decide(self, facts):
        """Asks the handler what follows from the end of the task."""
        self.facts = facts
        self.error = runs.exception_of(facts['error'])
        handler = self.on_failure if facts['error'] else self.on_success
        answer = handler(self) if handler else None
        if answer is None:
            answer = HandlerResult.fail() if facts['error'] else HandlerResult.cont()
        go_on = (HandlerResult.HANDLER_CONTINUE, HandlerResult.HANDLER_IGNORE)
        retry_after = answer.retry_after
        return {
            'idx': facts['idx'],
            'attempt': facts['attempt'],
            'decision': 'go-on' if answer.action in go_on else
            'retry' if answer.action == HandlerResult.HANDLER_RETRY else 'fail',
            'retryAfterMs': runs.milliseconds(retry_after),
            'ignoreTotalRetries': bool(answer.ignore_total_retries),
        }


def retry_failure_handler(task):
    """Runs the task again, whatever it failed of."""
    if isinstance(task.error, exceptions.NonRecoverableError):
        return HandlerResult.fail()
    return HandlerResult.retry()


def has_cancel_request():
    return api.has_cancel_request()
