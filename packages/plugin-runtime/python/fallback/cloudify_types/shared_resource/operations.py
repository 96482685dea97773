"""The operation of relationships to shared resources that runs a workflow there."""
from cloudify.decorators import operation
from cloudify_types.shared_resource.constants import WORKFLOW_EXECUTION_TIMEOUT
from cloudify_types.shared_resource.execute_shared_resource_workflow import execute_shared_resource_workflow


@operation(resumable=True)
def execute_workflow(workflow_id, parameters, timeout=WORKFLOW_EXECUTION_TIMEOUT, redirect_logs=True, **_):
    return execute_shared_resource_workflow(workflow_id, parameters, timeout, redirect_logs)
