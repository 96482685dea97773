from cloudify import ctx, manager

client = manager.get_rest_client()
stored = manager.get_node_instance(ctx.instance.id)
client.secrets.create('of-the-operation', 'a secret value', update_if_exists=True)
ctx.logger.info('token %s' % ctx.execution_token)
ctx.returns({
    'by': stored['by'],
    'secret': len(client.secrets.get('of-the-operation').value),
    'tenant': ctx.tenant_name,
    'deployment': client.deployments.get(ctx.deployment.id, _include=['id', 'blueprint_id']).blueprint_id,
    'nodes': sorted(node.id for node in client.nodes.list(deployment_id=ctx.deployment.id)),
    'file': len(manager.get_resource(ctx.blueprint.id, ctx.deployment.id, ctx.tenant_name, 'scripts/ask.py')) > 0,
})
