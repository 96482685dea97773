"""Calls to the REST service that workflow code makes through its context."""
from cloudify import manager, manager_place


class RestCalls(object):
    """Part of the context of workflows: the client is made when it is first needed."""
    _client = None
    rest_token = property(lambda self: self.execution_token)
    rest_host = property(lambda _: manager_place.hosts())
    rest_port = property(lambda _: manager_place.port())
    bypass_maintenance = False

    @property
    def _rest(self):
        if self._client is None:
            self._client = manager.get_rest_client()
        return self._client

    def get_execution(self, execution_id=None):
        return self._rest.executions.get(execution_id or self.execution_id)

    def start_execution(self, deployment_id, workflow_id, **kwargs):
        return self._rest.executions.start(deployment_id, workflow_id, **kwargs)

    def get_blueprint(self, blueprint_id):
        return self._rest.blueprints.get(blueprint_id)

    def get_deployment(self, deployment_id):
        return self._rest.deployments.get(deployment_id)

    def set_deployment_attributes(self, deployment_id, **kwargs):
        return self._rest.deployments.set_attributes(deployment_id, **kwargs)

    def get_deployment_update(self, update_id):
        return self._rest.deployment_updates.get(update_id)

    def list_nodes(self, **kwargs):
        return self._rest.nodes.list(**kwargs)

    def list_node_instances(self, **kwargs):
        return self._rest.node_instances.list(**kwargs)

    def update_node_instance(self, *args, **kwargs):
        return self._rest.node_instances.update(*args, **kwargs)

    def delete_node_instance(self, *args, **kwargs):
        return self._rest.node_instances.delete(*args, **kwargs)

    def create_node_instances(self, *args, **kwargs):
        return self._rest.node_instances.create_many(*args, **kwargs)

    def create_nodes(self, *args, **kwargs):
        return self._rest.nodes.create_many(*args, **kwargs)

    def update_node(self, *args, **kwargs):
        return self._rest.nodes.update(*args, **kwargs)

    def delete_node(self, *args, **kwargs):
        return self._rest.nodes.delete(*args, **kwargs)

    def get_secret(self, key):
        return self._rest.secrets.get(key)

    def get_managers(self):
        return self._rest.manager.get_managers()

    def list_idds(self, **kwargs):
        return self._rest.inter_deployment_dependencies.list(**kwargs)

    def update_idds(self, *args, **kwargs):
        return self._rest.inter_deployment_dependencies.update_all(*args, **kwargs)

    def list_execution_schedules(self, **kwargs):
        return self._rest.execution_schedules.list(**kwargs)

    def create_execution_schedule(self, schedule_id, deployment_id, **kwargs):
        return self._rest.execution_schedules.create(schedule_id, deployment_id, **kwargs)

    def update_execution_schedule(self, schedule_id, deployment_id, **kwargs):
        return self._rest.execution_schedules.update(schedule_id, deployment_id, **kwargs)
