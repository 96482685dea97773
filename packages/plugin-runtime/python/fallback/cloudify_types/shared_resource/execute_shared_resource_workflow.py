"""A workflow of the deployment behind the target of a relationship."""
from cloudify import ctx, manager
from cloudify.exceptions import NonRecoverableError
from cloudify_rest_client import CloudifyClient
from cloudify_types.component.polling import is_all_executions_finished, verify_execution_state
from cloudify_types.component.utils import populate_runtime_with_wf_results
from cloudify_types.polling import poll_with_timeout
from cloudify_types.shared_resource.constants import SHARED_RESOURCE_TYPE


def _get_target_shared_resource_client():
    """How the manager of the shared resource is reached; nothing: it is this one."""
    return ctx.target.node.properties.get('client') or {}


def execute_shared_resource_workflow(workflow_id, parameters, wf_timeout, redirect_logs):
    """Runs the workflow when nothing else runs there; the target gets the capabilities. Raises NonRecoverableError."""
    target = ctx.target
    if SHARED_RESOURCE_TYPE not in [target.node.type] + list(target.node.type_hierarchy):
        raise NonRecoverableError(
            'The workflow "%s" was to be run on the node "%s", which is no shared resource' % (workflow_id, target.node.id))
    config = _get_target_shared_resource_client()
    client = CloudifyClient(**config) if config else manager.get_rest_client()
    deployment_id = target.node.properties['resource_config']['deployment']['id']
    if not poll_with_timeout(lambda: is_all_executions_finished(client, deployment_id), wf_timeout):
        return ctx.operation.retry('The deployment "%s" is busy with other executions' % deployment_id)
    execute_workflow_base(client, workflow_id, deployment_id, parameters, redirect_logs, target.instance)
    return True


def execute_workflow_base(client, workflow_id, deployment_id, parameters=None, redirect_logs=True, instance_ctx=None,
                          queue=False):
    """Runs a workflow to its end. Raises NonRecoverableError when it fails."""
    execution = client.executions.start(deployment_id, workflow_id, parameters=parameters, allow_custom_parameters=True,
                                        queue=queue)
    ctx.logger.info('Started the workflow "%s" of deployment "%s": %s' % (workflow_id, deployment_id, execution['id']))
    verify_execution_state(client, execution['id'], deployment_id, redirect_logs, 'terminated', instance_ctx=instance_ctx)
    populate_runtime_with_wf_results(client, deployment_id, instance_ctx)
