"""The client: resources of the table, and the methods that are more than one line of it."""
import contextlib
import os
import tarfile
import tempfile

from cloudify_rest_client.calls import Resource
from cloudify_rest_client.exceptions import CloudifyClientError
from cloudify_rest_client.executions import Execution
from cloudify_rest_client.http_client import HTTPClient, query_text
from cloudify_rest_client.resources import RESOURCES, SEARCHES
from cloudify_rest_client.responses import Record


class _Deployment(Record):
    @property
    def workflows(self):
        return [Record(workflow) for workflow in self['workflows']]


class _OfDeployment(Resource):
    """Outputs or capabilities: read under the deployment."""

    def get(self, deployment_id):
        return self.wrap(self.api.get('/deployments/%s/%s' % (deployment_id, self._name)))


class _Deployments(Resource):
    def __init__(self, api, *arguments):
        super(_Deployments, self).__init__(api, *arguments)
        self.outputs = _OfDeployment(api, 'outputs', {})
        self.capabilities = _OfDeployment(api, 'capabilities', {})


class _Executions(Resource):
    _path = '/executions'

    def _act(self, execution_id, action):
        return self.wrap(self.api.post('%s/%s' % (self._path, execution_id), {'action': action}))

    def cancel(self, execution_id, force=False, kill=False):
        return self._act(execution_id, 'kill' if kill else 'force-cancel' if force else 'cancel')

    def resume(self, execution_id, force=False):
        return self._act(execution_id, 'force-resume' if force else 'resume')

    def create(self, *args, **given):
        return self.start(*args, **given)


class _ExecutionGroups(_Executions):
    _path = '/execution-groups'


class _DeploymentGroups(Resource):
    def add_deployments(self, group_id, deployment_ids=None, count=None, new_deployments=None, filter_id=None,
                        filter_rules=None, deployments_from_group=None, **_):
        """New deployments: as many as `count`, or those that are described."""
        return self._change(group_id, 'add', {
            'deployment_ids': deployment_ids, 'new_deployments': [{}] * count if count else new_deployments,
            'filter_id': filter_id, 'filter_rules': filter_rules, 'deployments_from_group': deployments_from_group})

    def remove_deployments(self, group_id, deployment_ids=None, filter_id=None, filter_rules=None,
                           deployments_from_group=None):
        return self._change(group_id, 'remove', {
            'deployment_ids': deployment_ids, 'filter_id': filter_id, 'filter_rules': filter_rules,
            'deployments_from_group': deployments_from_group})

    def _change(self, group_id, verb, change):
        given = {name: value for name, value in change.items() if value is not None}
        return self.wrap(self.api.patch('/deployment-groups/%s' % group_id, {verb: given}))


class _Nodes(Resource):
    def get(self, deployment_id, node_id, _include=None, evaluate_functions=False, instance_context=None):
        found = self.list(_include=_include, deployment_id=deployment_id, node_id=node_id,
                          evaluate_functions=evaluate_functions, instance_context=instance_context)
        if len(found):
            return found[0]
        raise CloudifyClientError('Requested Node with ID `%s` was not found' % node_id, status_code=404,
                                  error_code='not_found_error')


class _NodeInstances(Resource):
    def update(self, node_instance_id, state=None, runtime_properties=None, version=1, force=False, relationships=None,
               system_properties=None):
        """Refused with conflict_error when somebody has changed the instance since `version`."""
        change = {'state': state, 'runtime_properties': runtime_properties, 'relationships': relationships,
                  'system_properties': system_properties}
        body = dict({name: value for name, value in change.items() if value is not None}, version=version)
        return self.wrap(self.api.patch('/node-instances/%s' % node_instance_id, body, {'force': True} if force else None))


class _Events(Resource):
    def list(self, include_logs=False, message=None, from_datetime=None, to_datetime=None, _include=None, sort=None,
             **given):
        """Events, with include_logs log lines as well. Instants are texts or datetimes."""
        kinds = ['cloudify_event'] + (['cloudify_log'] if include_logs else [])
        between = None
        if from_datetime or to_datetime:
            between = 'timestamp,%s,%s' % (_instant(from_datetime), _instant(to_datetime))
        return self._method('list')(given.pop('type', kinds), message, between, _include, sort, **given)

    def get(self, execution_id, from_event=0, batch_size=100, include_logs=False):
        """Events of an execution from the given one on, and how many there are."""
        found = self.list(include_logs, sort='reported_timestamp', execution_id=execution_id, _offset=from_event,
                          _size=batch_size)
        return found.items, found.metadata.pagination.total


def _instant(when):
    return when.isoformat() if hasattr(when, 'isoformat') else when or ''


@contextlib.contextmanager
def _packed(path):
    """An archive of the folder around a main file, and the name of that; an address as it is."""
    if '://' in path:
        yield path, None
        return
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory() as place:
        archive = os.path.join(place, 'blueprint.tar.gz')
        with tarfile.open(archive, 'w:gz') as packed:
            packed.add(folder, os.path.basename(folder) or 'blueprint')
        yield archive, name


class _Blueprints(Resource):
    def upload(self, path, entity_id=None, visibility='tenant', progress_callback=None, skip_size_limit=True,
               async_upload=False, labels=None, blueprint_id=None, **_):
        """Uploads the folder around a main file."""
        with _packed(path) as (archive, name):
            return self.publish_archive(archive, entity_id or blueprint_id, name, visibility, None, async_upload, labels)

    def publish_archive(self, archive_location, blueprint_id, blueprint_filename=None, visibility='tenant',
                        progress_callback=None, async_upload=False, labels=None, **_):
        """Uploads an archive: a file, or the address of one."""
        query = {'visibility': visibility, 'async_upload': async_upload, 'application_file_name': blueprint_filename}
        if labels:
            query['labels'] = ','.join('%s=%s' % pair for label in labels for pair in label.items())
        return self.wrap(_send_file(self.api, 'PUT', '/blueprints/%s' % blueprint_id, archive_location,
                                    'blueprint_archive_url', query))

    def _upload(self, archive_location, blueprint_id, application_file_name=None, *arguments, **given):
        """publish_archive, as some plugins call it."""
        return self.publish_archive(archive_location, blueprint_id, application_file_name, *arguments, **given)

    def validate(self, path, entity_id, blueprint_filename=None, visibility='tenant', **_):
        """Reads a blueprint and keeps nothing: a main file or the address of an archive. Raises what is wrong with it."""
        with _packed(path) as (archive, name):
            query = {'visibility': visibility, 'application_file_name': blueprint_filename or name}
            return _send_file(self.api, 'PUT', '/blueprints/%s/validate' % entity_id, archive, 'blueprint_archive_url', query)

    def update(self, blueprint_id, update_dict=None, **given):
        return self._method('update')(blueprint_id, **dict(update_dict or {}, **given))

    def download(self, blueprint_id, output_file=None, progress_callback=None):
        place = output_file or '%s.tar.gz' % blueprint_id
        return self.api.request('GET', '/blueprints/%s/archive' % blueprint_id, output_file=place)


class _Plugins(Resource):
    def upload(self, plugin_path, plugin_title=None, visibility='tenant', progress_callback=None, **_):
        query = {'visibility': visibility, 'title': plugin_title}
        return self.wrap(_send_file(self.api, 'POST', '/plugins', plugin_path, 'plugin_archive_url', query))

    def download(self, plugin_id, output_file=None, progress_callback=None, full_archive=False):
        place = output_file or '%s.%s' % (plugin_id, 'zip' if full_archive else 'wgn')
        query = {'full_archive': True} if full_archive else None
        return self.api.request('GET', '/plugins/%s/archive' % plugin_id, params=query, output_file=place)


class _Manager(Resource):
    def get_config(self, name=None, scope=None):
        """Settings of the manager, or the one of that name (with its scope, where two have it)."""
        if name:
            return self.wrap(self.api.get('/config/%s' % ('%s.%s' % (scope, name) if scope else name)))
        return self.wrap(self.api.get('/config', params={'scope': scope}))


def _send_file(api, verb, uri, location, url_name, query):
    query = {name: query_text(value) for name, value in query.items() if value is not None}
    if '://' in location:
        return api.request(verb, uri, params=dict(query, **{url_name: location}))
    with open(location, 'rb') as archive:
        headers = {'Content-Type': 'application/octet-stream', 'Content-Length': str(os.path.getsize(location))}
        return api.request(verb, uri, archive, query, headers)


_KINDS = {
    'blueprints': _Blueprints, 'deployment_groups': _DeploymentGroups, 'deployments': _Deployments, 'events': _Events,
    'execution_groups': _ExecutionGroups, 'executions': _Executions, 'manager': _Manager,
    'node_instances': _NodeInstances, 'nodes': _Nodes, 'plugins': _Plugins,
}
_RECORDS = {'executions': Execution, 'deployments': _Deployment}


class CloudifyClient(object):
    """Calls the REST service. Takes what HTTPClient takes: host, port, protocol, headers, cert, credentials, tenant."""

    def __init__(self, host='localhost', *arguments, **settings):
        self.host = host
        self._client = HTTPClient(host, *arguments, **settings)
        for name, lines in RESOURCES.items():
            kind = _KINDS.get(name, Resource)
            setattr(self, name, kind(self._client, name, lines, _RECORDS.get(name, Record), SEARCHES.get(name)))
