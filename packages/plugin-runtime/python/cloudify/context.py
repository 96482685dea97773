"""ctx: what an operation reads and writes. Values are fetched at the first use and kept."""
import base64
import copy
import logging
from types import SimpleNamespace

from cloudify import constants, exceptions, manager_place
from cloudify._bootstrap import BootstrapContext
from cloudify._capabilities import Capabilities
from cloudify._parameters import Parameters
from cloudify._values import DirtyTrackingDict, Lazy, ReadOnlyDict
from cloudify.constants import DEPLOYMENT, NODE_INSTANCE, RELATIONSHIP_INSTANCE  # noqa: F401
from cloudify.proxy_call import call

_instances = []


class Node(Lazy):
    @property
    def name(self):
        return self.id

    @property
    def properties(self):
        return ReadOnlyDict(self._get('properties') or {})


class _Target(object):
    def __init__(self, node, instance):
        self.node = node
        self.instance = instance


class Relationship(object):
    def __init__(self, facts):
        self._facts = facts
        self.type = facts['type']
        self.type_hierarchy = facts.get('type_hierarchy') or []

    @property
    def target(self):
        return _Target(*_other(self._facts['target_id']))


def _others():
    if not _others.known:
        _others.known.append(call({'op': 'others'}))
    return _others.known[0]


_others.known = []


def _other(instance_id):
    facts = _others()
    instance = next(i for i in facts['instances'] if i['id'] == instance_id)
    node = Node(lambda: node_facts)
    node_facts = next(n for n in facts['nodes'] if n['id'] == instance['node_id'])
    return node, OtherInstance(instance, node)


class OtherInstance(object):
    """The target of a relationship: to be read only."""

    def __init__(self, facts, node):
        self._facts = facts
        self.node = node
        self.id = facts['id']

    @property
    def runtime_properties(self):
        return _OtherProperties(self._facts.get('runtime_properties') or {})

    @property
    def relationships(self):
        return [Relationship(r) for r in self._facts.get('relationships') or []]


class _OtherProperties(ReadOnlyDict):
    def _refuse(self, *_, **__):
        raise exceptions.NonRecoverableError('Cannot modify runtime properties of relationship node instances')

    __setitem__ = __delitem__ = update = clear = pop = popitem = setdefault = __ior__ = _refuse


class Instance(object):
    def __init__(self, side, facts, node):
        self._side = side
        self._facts = facts
        self._properties = None
        self.node = node
        _instances.append(self)

    @property
    def _record(self):
        return self._facts()

    @property
    def id(self):
        return self._record['id']

    @property
    def index(self):
        return self._record.get('index')

    @property
    def runtime_properties(self):
        if self._properties is None:
            self._properties = DirtyTrackingDict(self._record.get('runtime_properties') or {})
        return self._properties

    @runtime_properties.setter
    def runtime_properties(self, values):
        current = self.runtime_properties
        values = dict(values)
        current.clear()
        current.update(values)

    @property
    def system_properties(self):
        return self._record.get('system_properties') or {}

    @property
    def drift(self):
        found = self.system_properties.get('configuration_drift') or {}
        return found.get('result') if found.get('ok') else None

    @property
    def host_ip(self):
        return call({'op': 'host_ip', 'side': self._side})

    @property
    def relationships(self):
        return [Relationship(r) for r in self._record.get('relationships') or []]

    @property
    def scaling_groups(self):
        return {g['id']: g['name'] for g in self._record.get('scaling_groups') or []}

    # How plugins get at what ctx does not show of an instance: its host_id, state and version.
    @property
    def _node_instance(self):
        return SimpleNamespace(**dict({'host_id': None}, **self._record))

    def _get_node_instance_if_needed(self):
        return self._node_instance

    def hand_over(self, now=False):
        if self._properties is None or not self._properties.dirty:
            return
        call({'op': 'save', 'side': self._side, 'properties': self._properties, 'now': now})
        self._properties.mark_stored()

    def update(self, on_conflict=None):
        """Stores changed runtime properties now; on_conflict(mine, latest) gives what to store instead."""
        while True:
            try:
                return self.hand_over(now=True)
            except exceptions.NodeInstanceUpdateConflict:
                if on_conflict is None:
                    raise
                mine = self._properties
                self._reload()
                merged = on_conflict(dict(mine), copy.deepcopy(dict(self.runtime_properties)))
                self.runtime_properties = merged

    def refresh(self, force=False):
        if not force and self._properties is not None and self._properties.dirty:
            raise exceptions.NonRecoverableError('runtime properties of %s were changed but not saved' % self.id)
        self._reload()

    def _reload(self):
        record = call({'op': 'refresh', 'side': self._side})
        self._record.update(record)
        self._properties = DirtyTrackingDict(record.get('runtime_properties') or {})


class Side(object):
    """Node and instance of one side: own, source or target."""

    def __init__(self, name):
        self._name = name
        self._answer = None
        self.node = Node(lambda: self._read()['node'])
        self.instance = Instance(name, lambda: self._read()['instance'], self.node)

    @property
    def _context(self):
        return {'node_id': self.instance.id}

    def _read(self):
        if self._answer is None:
            self._answer = call({'op': 'side', 'side': self._name})
        return self._answer


class Plugin(str):
    """The plugin; its text is its name, as older plugins compare."""
    name = package_name = package_version = source = prefix = None
    properties = {}

    @property
    def workdir(self):
        return call({'args': ['plugin', 'workdir']}) if self.name else None


class Operation(Lazy):
    def retry(self, message=None, retry_after=None):
        call({'args': ['operation', 'retry', message, retry_after]})


class Deployment(Lazy):
    def __getattr__(self, name):
        if name in ('creator', 'resource_tags', 'runtime_only_evaluation'):
            return call({'args': ['deployment', name]})
        return super(Deployment, self).__getattr__(name)


class _ProxyHandler(logging.Handler):
    def emit(self, record):
        level = record.levelname.lower()
        text = self.format(record)
        call({'args': ['logger', level if level in ('debug', 'info', 'warning', 'error', 'critical') else 'info', text]})


def _make_logger():
    logger = logging.getLogger('ctx')
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(_ProxyHandler())
    return logger


class Agent(object):
    """The agent of the operation's host, before it is there."""

    def __init__(self, context):
        self._context = context

    def _made(self, agent_config):
        made = call({'op': 'agent_script', 'agent_config': agent_config})
        properties = self._context.instance.runtime_properties
        properties['cloudify_agent'] = dict(properties.get('cloudify_agent') or {}, **made['facts'])
        return made

    def init_script(self, agent_config=None):
        """The install script, for the user data of a machine; it holds a token that is good for an hour and one use."""
        return self._made(agent_config)['script']

    def install_script_download_link(self, agent_config=None):
        """Address from which the machine can get that script."""
        return self._made(agent_config)['link']


class OperationContext(object):
    """See the ctx API of the manager's reference; unknown names are looked up by the proxy."""

    def __init__(self):
        self._known = None
        self._own = None
        self._sides = {}
        self._logger = None
        self._agent = None

    def _fact(self, name):
        if self._known is None:
            self._known = call({'op': 'context'})
        return self._known.get(name)

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        value = self._fact(name)
        if value is None and name not in self._known:
            raise AttributeError("ctx has no '%s' on this manager" % name)
        return value

    def _own_side(self):
        if self.type != constants.NODE_INSTANCE:
            raise exceptions.NonRecoverableError(
                'ctx.node/ctx.instance can only be used in a {0} context but used in a {1} context.'.format(
                    constants.NODE_INSTANCE, self.type))
        if self._own is None:
            self._own = Side('own')
        return self._own

    def _side(self, name):
        if self.type != constants.RELATIONSHIP_INSTANCE:
            raise exceptions.NonRecoverableError(
                'ctx.source/ctx.target can only be used in a {0} context but used in a {1} context.'.format(
                    constants.RELATIONSHIP_INSTANCE, self.type))
        if name not in self._sides:
            self._sides[name] = Side(name)
        return self._sides[name]

    @property
    def node(self):
        return self._own_side().node

    @property
    def instance(self):
        return self._own_side().instance

    @property
    def source(self):
        return self._side('source')

    @property
    def target(self):
        return self._side('target')

    @property
    def operation(self):
        return Operation(lambda: self._fact('operation'))

    @property
    def deployment(self):
        return Deployment(lambda: self._fact('deployment'))

    @property
    def blueprint(self):
        return Lazy(lambda: self._fact('blueprint'))

    @property
    def plugin(self):
        facts = self._fact('plugin')
        plugin = Plugin(facts['name'])
        plugin.__dict__.update(facts)
        return plugin

    @property
    def capabilities(self):
        own = self.source.instance if self.type == constants.RELATIONSHIP_INSTANCE else self.instance
        return Capabilities(own.relationships)

    @property
    def agent(self):
        if self._agent is None:
            self._agent = Agent(self)
        return self._agent

    @property
    def bootstrap_context(self):
        from cloudify import manager
        return BootstrapContext(manager.get_bootstrap_context())

    @property
    def provider_context(self):
        from cloudify import manager
        return manager.get_provider_context()

    @property
    def _context(self):
        """Facts of the run as a dictionary, which some plugins read."""
        self._fact('type')
        return dict(self._known)

    def _get_current_object(self):
        return self

    @property
    def logger(self):
        if self._logger is None:
            self._logger = _make_logger()
        return self._logger

    # Calls to the REST service are made with the token of the execution, in whichever header.
    rest_token = property(lambda self: self.execution_token)
    rest_host = property(lambda _: manager_place.hosts())
    rest_port = property(lambda _: manager_place.port())
    bypass_maintenance = False
    local = _local = False
    # What a program that a plugin serves ctx to has returned, where the plugin keeps it.
    _return_value = None

    def get_managers(self, network='default'):
        """The hosts of the manager that have an address in the network."""
        from cloudify import manager
        return manager.of_network(manager.get_rest_client().manager.get_managers(), network)

    def get_brokers(self, network='default'):
        """The message brokers with an address in the network, without credentials."""
        from cloudify import manager
        return manager.of_network(manager.get_rest_client().manager.get_brokers(), network)

    def send_event(self, event):
        call({'args': ['send_event', event]})

    def get_resource(self, resource_path):
        return base64.b64decode(call({'op': 'resource', 'path': resource_path}))

    def get_resource_and_render(self, resource_path, template_variables=None):
        return call({'args': ['get_resource_and_render', resource_path,
                              {'template_variables': template_variables or {}}]})

    def download_resource(self, resource_path, target_path=None):
        return call({'args': ['download_resource', resource_path, {'target_path': target_path}]})

    def download_directory(self, directory_path, target_path=None):
        return call({'args': ['download_directory', directory_path, {'target_path': target_path}]})

    def download_resource_and_render(self, resource_path, target_path=None, template_variables=None):
        return call({'args': ['download_resource_and_render', resource_path,
                              {'target_path': target_path, 'template_variables': template_variables or {}}]})

    def local_deployment_workdir(self):
        return call({'args': ['local_deployment_workdir']})

    def returns(self, value=None):
        call({'args': ['returns', value, {}]})

    def abort_operation(self, message=None):
        call({'args': ['abort_operation', message]})

    def retry_operation(self, message=None, retry_after=None):
        call({'args': ['retry_operation', message, retry_after]})


CloudifyContext, NodeContext, NodeInstanceContext = OperationContext, Node, Instance
ctx = OperationContext()
ctx_parameters = Parameters(lambda: ctx.inputs)


def save_changes():
    """Hands runtime properties that the script changed over to the proxy, which stores them."""
    for instance in _instances:
        instance.hand_over()
