"""Nodes, node instances and relationships as workflow code sees them."""
from cloudify.workflows.engine_call import engine
from cloudify.workflows.tasks import (
    GetNodeInstanceStateTask, NOPLocalWorkflowTask, RemoteWorkflowTask, SendNodeEventTask, SetNodeInstanceStateTask)

_CONTAINED = 'cloudify.relationships.contained_in'


class Model(object):
    def __init__(self, ctx, facts):
        self.scaling_groups = facts.get('scalingGroups') or {}
        self.nodes = {n['id']: Node(ctx, self, n) for n in facts['nodes']}
        self.instances = {i['id']: NodeInstance(ctx, self, i) for i in facts['instances']}


class _Record(dict):
    """What the manager says of a node or instance, by key or attribute."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)


class Relationship(object):
    """A relationship of a node."""

    def __init__(self, model, node, facts):
        self._model = model
        self.type = facts['type']
        self.type_hierarchy = facts.get('type_hierarchy') or [self.type]
        self.target_id = facts['target_id']
        self.source_id = node.id
        self.properties = facts.get('properties') or {}
        self.source_operations = facts.get('source_operations') or {}
        self.target_operations = facts.get('target_operations') or {}

    @property
    def target_node(self):
        return self._model.nodes.get(self.target_id)

    @property
    def source_node(self):
        return self._model.nodes.get(self.source_id)

    def is_derived_from(self, other):
        return other in self.type_hierarchy


class Node(object):
    def __init__(self, ctx, model, facts):
        self._model = model
        self.ctx = ctx
        self._facts = self._node = _Record(facts)
        self.id = self.name = facts['id']
        self.type = facts['type']
        self.type_hierarchy = facts.get('type_hierarchy') or []
        self.properties = facts.get('properties') or {}
        self.operations = facts.get('operations') or {}
        self.plugins = facts.get('plugins') or []
        self.plugins_to_install = facts.get('plugins_to_install') or []
        self.host_id = facts.get('host_id')
        self.number_of_instances = facts.get('number_of_instances')
        self.planned_number_of_instances = facts.get('planned_number_of_instances', self.number_of_instances)
        self._relationships = {r['target_id']: Relationship(model, self, r) for r in facts.get('relationships') or []}

    @property
    def relationships(self):
        return iter(self._relationships.values())

    @property
    def instances(self):
        return iter([i for i in self._model.instances.values() if i.node_id == self.id])

    @property
    def host_node(self):
        return self._model.nodes.get(self.host_id)

    def get_relationship(self, target_id):
        return self._relationships.get(target_id)

    def get_operation(self, operation_name):
        return self.operations.get(operation_name)

    def has_operation(self, operation_name):
        found = self.operations.get(operation_name) or {}
        return bool(found.get('operation'))

    def is_derived_from(self, other):
        return other in self.type_hierarchy

    def __repr__(self):
        return '<%s %s>' % (type(self).__name__, self.id)


class RelationshipInstance(object):
    """A relationship between two instances."""

    def __init__(self, ctx, model, source, facts):
        self.ctx = ctx
        self._model = model
        self.node_instance = source
        self.target_id = facts['target_id']
        self.source_id = source.id
        self.type = facts['type']
        self._target_name = facts.get('target_name')

    @property
    def target_node_instance(self):
        return self._model.instances.get(self.target_id)

    @property
    def relationship(self):
        return self.node_instance.node.get_relationship(self._target_name or self.target_node_instance.node_id)

    def execute_source_operation(self, operation, kwargs=None, allow_kwargs_override=False, send_task_events=True):
        return self._execute('source', operation, kwargs, allow_kwargs_override, send_task_events)

    def execute_target_operation(self, operation, kwargs=None, allow_kwargs_override=False, send_task_events=True):
        return self._execute('target', operation, kwargs, allow_kwargs_override, send_task_events)

    def _execute(self, side, operation, kwargs, allow_kwargs_override, send_task_events):
        declared = self.relationship
        operations = getattr(declared, side + '_operations') if declared else {}
        return self.ctx._run(_operation_task(
            self.ctx, self.source_id, operations.get(operation), operation, kwargs, allow_kwargs_override,
            send_task_events, {'targetId': self.target_id, 'side': side}))

    def __repr__(self):
        return '<%s %s->%s (%s)>' % (type(self).__name__, self.source_id, self.target_id, self.type)


class NodeInstance(object):
    def __init__(self, ctx, model, facts):
        self.ctx = ctx
        self._model = model
        self._facts = self._node_instance = _Record(facts)
        self.id = facts['id']
        self.node_id = facts['node_id']
        self.state = facts.get('state')
        self.version = facts.get('version')
        self.host_id = facts.get('host_id')
        self.index = facts.get('index')
        self.runtime_properties = facts.get('runtime_properties') or {}
        self.system_properties = facts.get('system_properties') or {}
        self.scaling_groups = facts.get('scaling_groups') or []
        self.modification = None

    def __eq__(self, other):
        return isinstance(other, NodeInstance) and self.id == other.id

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.id)

    @property
    def node(self):
        return self._model.nodes.get(self.node_id)

    @property
    def deployment_id(self):
        return self.ctx.deployment.id

    @property
    def logger(self):
        return self.ctx.logger

    @property
    def relationships(self):
        return iter([RelationshipInstance(self.ctx, self._model, self, r)
                     for r in self._facts.get('relationships') or []])

    @property
    def contained_instances(self):
        def is_inside(instance):
            for relationship in instance.relationships:
                declared = relationship.relationship
                hierarchy = declared.type_hierarchy if declared else [relationship.type]
                if relationship.target_id == self.id and _CONTAINED in hierarchy:
                    return True
            return False
        return [i for i in self._model.instances.values() if is_inside(i)]

    def get_contained_subgraph(self):
        """The instance and everything in it, at any depth."""
        found = [self]
        for instance in found:
            found.extend(i for i in instance.contained_instances if i not in found)
        return set(found)

    def __repr__(self):
        return '<%s %s (%s)>' % (type(self).__name__, self.id, self.state)

    def set_state(self, state):
        item = {'item': 'state', 'instanceId': self.id, 'state': state}
        return self.ctx._run(SetNodeInstanceStateTask(item, info=state, context=self.ctx))

    def get_state(self):
        def read():
            found = next((i for i in engine('wf_model')['instances'] if i['id'] == self.id), None)
            return found and found['state']
        item = {'item': 'step', 'name': 'get_node_instance_state'}
        return self.ctx._run(GetNodeInstanceStateTask(
            item, name='GetNodeInstanceStateTask', info=self.id, total_retries=0, send_task_events=False, call=read,
            context=self.ctx))

    def send_event(self, event, additional_context=None):
        item = {'item': 'node-event', 'instanceId': self.id, 'text': str(event)}
        return self.ctx._run(SendNodeEventTask(item, info=event, context=self.ctx))

    def execute_operation(self, operation, kwargs=None, allow_kwargs_override=False, send_task_events=True):
        declared = self.node.operations.get(operation) if self.node else None
        return self.ctx._run(_operation_task(
            self.ctx, self.id, declared, operation, kwargs, allow_kwargs_override, send_task_events))


def _operation_task(ctx, instance_id, declared, operation, kwargs, allow_kwargs_override, send_task_events,
                    relationship=None):
    item = {'item': 'operation', 'instanceId': instance_id, 'operation': operation, 'kwargs': kwargs or {},
            'mayOverride': bool(allow_kwargs_override), 'relationship': relationship}
    if not (declared or {}).get('operation'):
        return NOPLocalWorkflowTask(ctx, item)
    for name in kwargs or {}:
        if not allow_kwargs_override and name in (declared.get('inputs') or {}):
            raise RuntimeError(
                'Duplicate definition of %s in operation properties and in kwargs. To allow redefinition, pass '
                '"allow_kwargs_override" to "execute_operation"' % name)
    task = RemoteWorkflowTask(item, name=declared['operation'], send_task_events=None if send_task_events else False,
                              context=ctx)
    own = (declared.get('max_retries'), declared.get('retry_interval'))
    task._defaults = (own[0] if own[0] is not None else task._defaults[0],
                      own[1] if own[1] is not None else task._defaults[1], True)
    task.cloudify_context = {'task_name': declared['operation'], 'node_id': instance_id,
                             'operation': {'name': operation, 'retry_number': 0}}
    return task
