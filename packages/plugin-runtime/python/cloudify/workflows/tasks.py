"""Tasks of workflow code: what is to be done, and how it went."""
import uuid

from cloudify import exceptions
from cloudify.constants import (  # noqa: F401
    TASK_FAILED, TASK_PENDING, TASK_RESCHEDULED, TASK_RESPONSE_SENT, TASK_SENDING, TASK_SENT, TASK_STARTED, TASK_SUCCEEDED,
    TERMINATED_STATES)
from cloudify.workflows import api, runs
from cloudify.workflows.handlers import HandlerResult, retry_failure_handler  # noqa: F401

INFINITE_TOTAL_RETRIES = -1
DEFAULT_TOTAL_RETRIES = INFINITE_TOTAL_RETRIES
DEFAULT_RETRY_INTERVAL = 30
DEFAULT_SUBGRAPH_TOTAL_RETRIES = 0
DEFAULT_SEND_TASK_EVENTS = True


class WorkflowTask(object):
    """A task, or the result of one that runs already: both have get()."""
    is_subgraph = False
    # Whether the engine asks for handlers of such tasks; of others a step behind the task does.
    _engine_asks = True
    _defaults = (DEFAULT_TOTAL_RETRIES, DEFAULT_RETRY_INTERVAL, DEFAULT_SEND_TASK_EVENTS)

    def __init__(self, item, name=None, info=None, total_retries=None, retry_interval=None, send_task_events=None,
                 call=None, context=None):
        self.id = str(uuid.uuid4())
        self.item = item
        self._name = name or item['item']
        self.info = info
        self._chosen = {'total_retries': total_retries, 'retry_interval': retry_interval,
                        'send_task_events': send_task_events}
        self.on_success = None
        self.on_failure = None
        self.containing_subgraph = None
        self.call = call
        self.workflow_context = context
        self.cloudify_context = {}
        self.keys = None
        self.facts = None
        self.error = None
        # What a handler that is being asked sees: the end that it decides about.
        self._asked = None
        # What the task returned or raised in this process, where it was no JSON.
        self.own_end = None
        self._retries = None
        self.is_settled = False
        runs.know(self)

    def __repr__(self):
        return '<%s %s>' % (self.task_type, self.id)

    def _value(self, name):
        chosen = self._chosen[name]
        return self._defaults[list(self._chosen).index(name)] if chosen is None else chosen

    def _choose(self, name, value):
        self._chosen[name] = value

    total_retries = property(lambda self: self._value('total_retries'), lambda self, n: self._choose('total_retries', n))
    retry_interval = property(lambda self: self._value('retry_interval'), lambda self, n: self._choose('retry_interval', n))
    send_task_events = property(lambda self: self._value('send_task_events'),
                                lambda self, is_on: self._choose('send_task_events', is_on))
    name = property(lambda self: self._name)
    short_description = property(lambda self: self._name)
    task_type = property(lambda self: type(self).__name__)
    async_result = property(lambda self: self)
    task = property(lambda self: self)

    @property
    def current_retries(self):
        if self._retries is not None:
            return self._retries
        return self.facts['retries'] if self.facts else 0

    @current_retries.setter
    def current_retries(self, count):
        self._retries = count

    def apply_async(self):
        """Starts the task at once, in graph mode too; nobody has to wait for it. It is its own result."""
        if self.keys is None:
            runs.start([self.work(runs.next_key(), [], None)], [self])
            self.is_settled = True
        return self

    def is_local(self):
        return True

    def is_remote(self):
        return not self.is_local()

    def is_nop(self):
        return False

    def get_state(self):
        if self._asked is not None:
            return TASK_FAILED if self._asked['error'] else TASK_SUCCEEDED
        facts = runs.look(self)
        return facts['state'] if facts else TASK_PENDING

    state = property(get_state)
    is_terminated = property(lambda self: self.get_state() in TERMINATED_STATES)

    def dump(self):
        return {'id': self.id, 'name': self.name, 'item': self.item, 'type': self.task_type}

    def _end(self, facts):
        """What it returned, or the exception with which it ended."""
        if facts['error']:
            raised = self.own_end[0] if self.own_end and isinstance(self.own_end[0], BaseException) else None
            return raised or runs.exception_of(facts['error'], runs.description_of(facts))
        return self.own_end[0] if self.own_end else facts['result']

    @property
    def result(self):
        """The result, or the exception of a failure. Raises RuntimeError as long as it has not ended."""
        facts = self._asked or runs.look(self)
        if facts is None or (self._asked is None and facts['state'] not in TERMINATED_STATES):
            raise RuntimeError('Result not set yet')
        return self._end(facts)

    def get(self, retry_on_failure=True):
        """The result, when it is there. Raises what the task raised when it failed for good, ExecutionCancelled."""
        if self._asked is None:
            if self.keys is None:
                raise RuntimeError('task %s was not executed' % self.name)
            # Whoever asked for the result has seen what became of it.
            self.is_settled = True
            if not runs.ended(self):
                try:
                    runs.wait([self], wait_after_fail=0)
                except exceptions.WorkflowFailed:
                    facts = runs.look(self)
                    if not facts or not facts['error']:
                        raise
                    raise self._end(facts)
        facts = self._asked or runs.look(self)
        found = self._end(facts) if facts else None
        if facts and facts['error'] and self._asked is not None:
            raise found
        return None if facts and facts['error'] else found

    def work(self, key, deps, subgraph):
        """The item that is submitted."""
        item = dict(self.item, key=key, deps=deps, subgraph=subgraph)
        if self._chosen['total_retries'] is not None:
            item['totalRetries'] = int(self._chosen['total_retries'])
        if self._chosen['retry_interval'] is not None:
            item['retryIntervalMs'] = int(self._chosen['retry_interval'] * 1000)
        if self._chosen['send_task_events'] is not None:
            item['sendTaskEvents'] = bool(self._chosen['send_task_events'])
        item['asksOnFailure'] = self.on_failure is not None
        item['asksOnSuccess'] = self.on_success is not None and self._engine_asks
        return item

    def needs_step(self):
        """Whether its success handler must be asked by a step behind it."""
        return self.on_success is not None and not self._engine_asks

    def carry_out(self):
        """Runs a local task; what is no JSON stays in this process."""
        return self.call()

    def ask(self, facts):
        """The HandlerResult of the handler that decides about this end of the task."""
        self.facts = self._asked = facts
        self.error = runs.error_dict(facts['error'])
        try:
            handler = self.on_failure if facts['error'] else self.on_success
            answer = handler(self) if handler else None
        finally:
            self._asked = None
        if answer is None:
            return HandlerResult.fail() if facts['error'] else HandlerResult.cont()
        return answer


class RemoteWorkflowTask(WorkflowTask):
    """An operation of a node instance or relationship."""

    def is_local(self):
        return False


class LocalWorkflowTask(WorkflowTask):
    """Something that the code does itself when its turn comes."""

    def __init__(self, local_task, workflow_context=None, node=None, info=None, total_retries=None, retry_interval=None,
                 send_task_events=None, kwargs=None, task_id=None, name=None):
        title = name or getattr(local_task, '__name__', 'local_task')
        arguments = dict(kwargs or {})
        super(LocalWorkflowTask, self).__init__(
            {'item': 'step', 'name': title}, name=title, info=info, total_retries=total_retries,
            retry_interval=retry_interval, send_task_events=send_task_events, call=lambda: local_task(**arguments),
            context=workflow_context)
        self.local_task = local_task
        self.node = node
        self.kwargs = arguments


class NOPLocalWorkflowTask(LocalWorkflowTask):
    """Stands for an operation that is not implemented."""

    def __init__(self, workflow_context=None, item=None, **_):
        super(NOPLocalWorkflowTask, self).__init__(
            lambda: None, workflow_context, send_task_events=False, total_retries=INFINITE_TOTAL_RETRIES, name='NOP')
        self._operation = item
        self.send_task_events = True

    def is_nop(self):
        return self.on_success is None and self.on_failure is None

    def work(self, key, deps, subgraph):
        # One with a handler does something: a step without events, whose handler the engine asks for.
        plain = super(NOPLocalWorkflowTask, self).work(key, deps, subgraph)
        if self._operation is not None and self.is_nop():
            return dict(self._operation, key=key, deps=deps, subgraph=subgraph)
        return dict(plain, sendTaskEvents=False, totalRetries=INFINITE_TOTAL_RETRIES)


class UpdateExecutionStatusTask(LocalWorkflowTask):
    """Sets the status of the execution whose code this is."""

    def __init__(self, status, workflow_context, **_):
        self.status = status
        super(UpdateExecutionStatusTask, self).__init__(
            lambda: self._set(), workflow_context, info=status, total_retries=0, send_task_events=False,
            name='update_execution_status')

    def _set(self):
        ctx = self.workflow_context
        ctx._rest.executions.update(ctx.execution_id, self.status)


class DryRunLocalWorkflowTask(LocalWorkflowTask):
    """The engine makes a dry run of operations itself."""


class _BuiltinTask(WorkflowTask):
    _engine_asks = False
    _defaults = (0, DEFAULT_RETRY_INTERVAL, False)

    def __init__(self, item, info=None, context=None):
        super(_BuiltinTask, self).__init__(item, name=type(self).__name__, info=info, context=context)


class SetNodeInstanceStateTask(_BuiltinTask):
    pass


class SendNodeEventTask(_BuiltinTask):
    pass


class SendWorkflowEventTask(_BuiltinTask):
    pass


class GetNodeInstanceStateTask(WorkflowTask):
    _defaults = (0, DEFAULT_RETRY_INTERVAL, False)


class LifecycleTask(WorkflowTask):
    """A built-in sequence on chosen instances: many tasks at the engine."""
    _engine_asks = False


def has_cancel_request():
    return api.has_cancel_request()
