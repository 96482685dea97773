"""What a deployment offers to those that use it."""
from cloudify import ctx
from cloudify_types.component.constants import CAPABILITIES


def populate_runtime_with_wf_results(client, deployment_id, node_instance=None):
    """Writes the capabilities of the deployment into the runtime properties of the instance."""
    found = client.deployments.capabilities.get(deployment_id)
    (node_instance or ctx.instance).runtime_properties[CAPABILITIES] = found.get(CAPABILITIES)
