"""Calls to the manager: its REST service with the rights of the execution, and the files that it serves."""
import os
import ssl
import tempfile
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from cloudify import constants, exceptions, utils
from cloudify.context import DirtyTrackingDict, ctx

_FILE_TIMEOUT = 300

__all__ = [
    'DirtyTrackingDict', 'NodeInstance', 'download_resource', 'download_resource_from_manager', 'get_bootstrap_context',
    'get_node_instance', 'get_node_instance_ip', 'get_provider_context', 'get_resource', 'get_resource_from_manager',
    'get_rest_client', 'update_execution_status', 'update_node_instance']


def get_rest_client(tenant=None, api_token=None):
    """A client of the REST service that acts for whoever started the execution, as long as it lasts.

    It is that of the code's own cloudify_rest_client where the code brings one, else that of the manager.
    """
    from cloudify_rest_client import CloudifyClient
    headers = {}
    token = None
    execution_token = utils.get_execution_token()
    if execution_token:
        headers[constants.CLOUDIFY_EXECUTION_TOKEN_HEADER] = execution_token
    else:
        token = api_token or utils.get_rest_token()
    return CloudifyClient(
        host=utils.get_manager_rest_service_host()[0], port=utils.get_manager_rest_service_port(),
        protocol=utils.get_manager_rest_service_protocol(), headers=headers, token=token,
        tenant=tenant or utils.get_tenant_name(), cert=utils.get_local_rest_certificate())


class NodeInstance(object):
    """A node instance as it was read; update_node_instance stores its changed state and runtime properties."""

    def __init__(self, node_instance_id, node_id, runtime_properties=None, state=None, version=None, host_id=None,
                 relationships=None, index=None, scaling_groups=None, system_properties=None):
        self.id = node_instance_id
        self.node_id = node_id
        self.runtime_properties = runtime_properties or {}
        self.state = state
        self.version = version
        self.host_id = host_id
        self.relationships = relationships
        self.index = index
        self.system_properties = system_properties
        self._scaling_groups = scaling_groups or []

    def __setattr__(self, name, value):
        if name == 'runtime_properties' and name in self.__dict__:
            value = DirtyTrackingDict(value)
            value._set_changed()
        elif name == 'runtime_properties':
            value = DirtyTrackingDict(value)
        super(NodeInstance, self).__setattr__(name, value)

    def get(self, key):
        return self.runtime_properties.get(key)

    def put(self, key, value):
        self.runtime_properties[key] = value

    def delete(self, key):
        del self.runtime_properties[key]

    __getitem__, __setitem__, __delitem__ = get, put, delete

    def __contains__(self, key):
        return key in self.runtime_properties

    @property
    def dirty(self):
        return self.runtime_properties.dirty

    @property
    def scaling_groups(self):
        return {group['id']: group['name'] for group in self._scaling_groups}


def get_node_instance(node_instance_id, evaluate_functions=False, client=None):
    found = (client or get_rest_client()).node_instances.get(node_instance_id, evaluate_functions=evaluate_functions)
    return NodeInstance(node_instance_id, *[found.get(name) for name in (
        'node_id', 'runtime_properties', 'state', 'version', 'host_id', 'relationships', 'index', 'scaling_groups',
        'system_properties')])


def update_node_instance(node_instance, client=None):
    (client or get_rest_client()).node_instances.update(
        node_instance.id, state=node_instance.state, runtime_properties=node_instance.runtime_properties,
        version=node_instance.version)


def get_node_instance_ip(node_instance_id, client=None):
    """Address of the host that the instance is contained in. Raises NonRecoverableError when none is known."""
    client = client or get_rest_client()
    instance = client.node_instances.get(node_instance_id)
    host_id = instance['host_id']
    if host_id is None:
        raise exceptions.NonRecoverableError('node instance %s is not contained in a host' % node_instance_id)
    host = instance if host_id == node_instance_id else client.node_instances.get(host_id)
    address = (host['runtime_properties'].get('ip')
               or client.nodes.get(host['deployment_id'], host['node_id'])['properties'].get('ip'))
    if not address:
        raise exceptions.NonRecoverableError(
            'the host %s of node instance %s has no ip, neither as a runtime property nor as a property'
            % (host_id, node_instance_id))
    return address


def update_execution_status(execution_id, status, error=None, client=None):
    return (client or get_rest_client()).executions.update(execution_id, status, error)


def of_network(servers, network):
    """Those of the managers or brokers that have an address in the network."""
    return [server for server in servers if network in (server.get('networks') or {})]


def get_provider_context(client=None):
    return (client or get_rest_client()).manager.get_context()['context'] or {}


def get_bootstrap_context(client=None):
    """What the manager was set up with: the part `cloudify` of the provider context, and the settings of workflows."""
    client = client or get_rest_client()
    context = get_provider_context(client).get('cloudify', {})
    settings = client.manager.get_config(scope='workflow')
    context.setdefault('workflows', {}).update({setting['name']: setting['value'] for setting in settings})
    return context


def get_resource_from_manager(resource_path, base_url=None, base_urls=None):
    """The content of a file of the file server. Raises HttpException when it cannot be had."""
    bases = ([base_url] if base_url else []) + list(base_urls or []) + utils.get_manager_file_server_url()
    headers = {constants.CLOUDIFY_EXECUTION_TOKEN_HEADER: utils.get_execution_token() or '',
               'Tenant': utils.get_tenant_name() or ''}
    error = None
    for base in bases:
        url = '%s/%s' % (base.rstrip('/'), quote(resource_path.lstrip('/')))
        try:
            with _opener(url).open(Request(url, headers=headers), timeout=_FILE_TIMEOUT) as answer:
                return answer.read()
        except HTTPError as refused:
            error = exceptions.HttpException(url, refused.code, refused.reason)
        except URLError as refused:
            error = exceptions.NonRecoverableError('Failed to download %s: %s' % (url, refused.reason))
    raise error


def _opener(url):
    # A proxy of the environment leads to the outside, never to the manager.
    handlers = [ProxyHandler({})]
    if url.startswith('https:'):
        handlers.append(HTTPSHandler(context=ssl.create_default_context(cafile=utils.get_local_rest_certificate())))
    return build_opener(*handlers)


def get_resource(blueprint_id, deployment_id, tenant_name, resource_path):
    """A file of the deployment, else of the blueprint, else of everybody. Raises HttpException."""
    tried = []
    places = (('deployments', deployment_id), ('blueprints', blueprint_id))
    paths = ['/'.join([folder, tenant_name, name, resource_path]) for folder, name in places if name]
    for path in paths + [resource_path]:
        try:
            return get_resource_from_manager(path)
        except exceptions.HttpException as error:
            if error.code != 404:
                raise
            tried.append(path)
    raise exceptions.HttpException(','.join(tried), 404, 'Resource not found: %s' % resource_path)


def _stored(content, resource_path, logger, target_path):
    place = target_path or os.path.join(tempfile.mkdtemp(), os.path.basename(resource_path))
    with open(place, 'wb') as target:
        target.write(content)
    (logger or ctx.logger).info('Downloaded %s to %s' % (resource_path, place))
    return place


def download_resource_from_manager(resource_path, logger=None, target_path=None):
    return _stored(get_resource_from_manager(resource_path), resource_path, logger, target_path)


def download_resource(blueprint_id, deployment_id, tenant_name, resource_path, logger=None, target_path=None):
    content = get_resource(blueprint_id, deployment_id, tenant_name, resource_path)
    return _stored(content, resource_path, logger, target_path)
