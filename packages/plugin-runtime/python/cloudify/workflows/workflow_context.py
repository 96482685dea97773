"""The context of workflow code: the model of the deployment, and what can be done with it."""
from cloudify import exceptions
from cloudify.context import _make_logger, call
from cloudify.workflows import runs
from cloudify.workflows.engine_call import engine
from cloudify.workflows.model import Model
from cloudify.workflows.rest_calls import RestCalls
from cloudify.workflows.tasks import LocalWorkflowTask, SendWorkflowEventTask, UpdateExecutionStatusTask
from cloudify.workflows.tasks_graph import TaskDependencyGraph


def task_config(fn=None, **arguments):
    """Gives a callable its own total_retries, retry_interval and the like, for local_task."""
    def mark(function):
        function.workflow_task_config = arguments
        return function
    return mark(fn) if fn is not None else mark


class _Internal(object):
    def __init__(self, ctx):
        self._ctx = ctx
        self.handler = self

    @property
    def graph_mode(self):
        return self._ctx._is_graph_mode

    @graph_mode.setter
    def graph_mode(self, is_on):
        self._ctx._is_graph_mode = bool(is_on)

    @property
    def task_graph(self):
        if self._ctx._graph is None:
            self._ctx._graph = TaskDependencyGraph(self._ctx)
        return self._ctx._graph

    def send_workflow_event(self, event_type, message=None, args=None, additional_context=None):
        """Tells it at once, in graph mode too."""
        item = {'item': 'event', 'text': str(message), 'eventType': str(event_type)}
        SendWorkflowEventTask(item, info=message, context=self._ctx).apply_async()

    @property
    def bootstrap_context(self):
        return self._ctx.bootstrap_context

    def get_task_configuration(self):
        """How often and after how many seconds tasks are tried again that say nothing of it."""
        settings = self.bootstrap_context['workflows']
        return {'total_retries': settings['task_retries'], 'retry_interval': settings['task_retry_interval']}

    def get_subgraph_task_configuration(self):
        return {'total_retries': self.bootstrap_context['workflows']['subgraph_retries']}

    def evaluate_functions(self, deployment_id, ctx, payload):
        return self._ctx._rest.evaluate.functions(deployment_id, ctx, payload)['payload']

    def add_local_task(self, task):
        return self._ctx._run(task)


class _Deployment(object):
    def __init__(self, ctx, facts):
        self._ctx = ctx
        self.id = facts['id']
        self.display_name = facts['display_name']

    @property
    def creator(self):
        return call({'args': ['deployment', 'creator']})

    @property
    def resource_tags(self):
        return call({'args': ['deployment', 'resource_tags']}) or {}

    @property
    def scaling_groups(self):
        return self._ctx._model().scaling_groups

    def start_modification(self, nodes):
        """Begins to change the numbers of instances: {node or group: {'instances': n}}."""
        answer = engine('wf_call', key=runs.next_key(), request={'call': 'modification-start', 'entities': nodes})
        self._ctx.refresh_node_instances()
        return Modification(self._ctx, answer)

    def list_started_modifications(self):
        found = self._ctx._rest.deployment_modifications.list(self.id, status='started')
        return [StartedModification(self._ctx, facts) for facts in found]


class ModificationNodes(object):
    def __init__(self, instances):
        self.node_instances = instances


class Modification(object):
    """A deployment modification: install what was added or uninstall what was removed, then finish it."""

    def __init__(self, ctx, answer):
        self.id = answer['modification_id']
        related = answer.get('related') or []
        self.added = self._side(ctx, answer.get('added') or [], related, 'added')
        self.removed = self._side(ctx, answer.get('removed') or [], related, 'removed')

    @staticmethod
    def _side(ctx, ids, related, mark):
        if not ids:
            return ModificationNodes([])
        found = []
        for instance_id in list(ids) + [i for i in related if i not in ids]:
            instance = ctx.get_node_instance(instance_id)
            if instance is None:
                continue
            instance.modification = mark if instance_id in ids else None
            found.append(instance)
        return ModificationNodes(found)

    def finish(self):
        engine('wf_call', key=runs.next_key(), request={'call': 'modification-finish', 'modificationId': self.id})

    def rollback(self):
        engine('wf_call', key=runs.next_key(), request={'call': 'modification-rollback', 'modificationId': self.id})


class StartedModification(object):
    """A modification that somebody has begun, to be finished or rolled back."""

    def __init__(self, ctx, facts):
        self._rest = ctx._rest.deployment_modifications
        self.id = facts['id']
        self.status = facts['status']

    def finish(self):
        self._rest.finish(self.id)

    def rollback(self):
        self._rest.rollback(self.id)


class _Blueprint(object):
    def __init__(self, facts):
        self.id = facts['id']


class _Tenant(dict):
    pass


class WorkflowContext(RestCalls):
    """See chapter 4.3 of the manager's reference for its members."""

    def __init__(self):
        self._known = None
        self._read = None
        self._graph = None
        self._is_graph_mode = False
        self._log = None
        self._client = None
        self.internal = _Internal(self)
        self.local = False

    def _facts(self):
        if self._known is None:
            self._known = engine('wf_facts')
        return self._known

    def _model(self):
        if self._read is None:
            self._read = Model(self, engine('wf_model'))
        return self._read

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        facts = self._facts()
        if name in facts:
            return facts[name]
        raise AttributeError("ctx of workflows has no '%s' on this manager" % name)

    @property
    def deployment(self):
        return _Deployment(self, self._facts()['deployment'])

    @property
    def blueprint(self):
        return _Blueprint(self._facts()['blueprint'])

    @property
    def tenant(self):
        return _Tenant(name=self.tenant_name)

    @property
    def bootstrap_context(self):
        return {'workflows': self._facts()['settings']}

    @property
    def logger(self):
        if self._log is None:
            self._log = _make_logger()
        return self._log

    @property
    def nodes(self):
        return iter(self._model().nodes.values())

    @property
    def node_instances(self):
        return iter(self._model().instances.values())

    def get_node(self, node_id):
        return self._model().nodes.get(node_id)

    def get_node_instance(self, node_instance_id):
        return self._model().instances.get(node_instance_id)

    def refresh_node_instances(self):
        """Reads the model again; nodes and instances are new objects afterwards."""
        self._read = None

    def graph_mode(self):
        """From now on what is asked for becomes a task, to be put into the graph that this returns."""
        if not self._is_graph_mode and runs.unsettled():
            raise RuntimeError('Cannot switch to graph mode when tasks have already been executed')
        self._is_graph_mode = True
        return self.internal.task_graph

    def _run(self, task):
        """The task in graph mode, else the result of a task that has been started."""
        if not self._is_graph_mode:
            runs.start([task.work(runs.next_key(), [], None)], [task])
        return task

    def send_event(self, event, event_type='workflow_stage', args=None, additional_context=None):
        item = {'item': 'event', 'text': str(event), 'eventType': str(event_type)}
        return self._run(SendWorkflowEventTask(item, info=event, context=self))

    def local_task(self, local_task, node=None, info=None, kwargs=None, task_id=None, name=None, send_task_events=True,
                   override_task_config=False, total_retries=None, retry_interval=None):
        """Something that the code does itself. A result that is no JSON is there for this run of the code only."""
        own = getattr(local_task, 'workflow_task_config', {})
        given = {'total_retries': total_retries, 'retry_interval': retry_interval,
                 'send_task_events': send_task_events, 'name': name}
        # With override_task_config the call wins, also with the name that it does not give.
        merged = dict(given, **own) if not override_task_config else dict(
            {k: v for k, v in own.items() if k != 'name'}, **{k: v for k, v in given.items() if v is not None})
        arguments = dict(merged.get('kwargs') or {}, **(kwargs or {}))
        return self._run(LocalWorkflowTask(
            local_task, self, node=node, info=info, kwargs=arguments,
            **{name: merged.get(name) for name in ('name', 'total_retries', 'retry_interval', 'send_task_events')}))

    def execute_task(self, task_name=None, local=True, kwargs=None, **options):
        if not local:
            raise exceptions.NonRecoverableError(
                'execute_task runs local tasks only on this manager; run operations of node instances instead')
        if not callable(task_name):
            raise exceptions.NonRecoverableError('execute_task needs a callable on this manager')
        allowed = ('info', 'task_id', 'name', 'send_task_events', 'total_retries', 'retry_interval')
        return self.local_task(task_name, kwargs=kwargs, **{k: v for k, v in options.items() if k in allowed})

    def update_execution_status(self, new_status):
        """Sets the status of the own execution; one of those in which it has ended ends it."""
        return self._run(UpdateExecutionStatusTask(new_status, self))

    def download_resource(self, resource_path, target_path=None):
        return call({'args': ['download_resource', resource_path, {'target_path': target_path}]})

    def get_resource(self, resource_path):
        return call({'args': ['get_resource', resource_path]})


ctx = WorkflowContext()


class _NoParameter(AttributeError, KeyError):
    pass


class _Parameters(dict):
    """Parameters of the workflow, by key or attribute."""

    def __init__(self):
        super(_Parameters, self).__init__()
        self.__dict__['_is_loaded'] = False

    def _load(self):
        if not self._is_loaded:
            self.__dict__['_is_loaded'] = True
            self.update(ctx.parameters)

    def __getattr__(self, name):
        self._load()
        try:
            return dict.__getitem__(self, name)
        except KeyError:
            raise _NoParameter("there is no parameter '%s'" % name)


def _loading(name):
    plain = getattr(dict, name)

    def method(self, *args, **kwargs):
        self._load()
        return plain(self, *args, **kwargs)
    return method


for _name in ('__getitem__', '__contains__', '__iter__', '__len__', 'get', 'keys', 'values', 'items', '__repr__', 'copy'):
    setattr(_Parameters, _name, _loading(_name))

parameters = _Parameters()
