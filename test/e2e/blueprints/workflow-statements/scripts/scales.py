from cloudify.plugins import lifecycle
from cloudify.workflows import ctx

for node in ('a', 'b', 'c'):
    modification = ctx.deployment.start_modification({node: {'instances': 2}})
    added = [one for one in modification.added.node_instances if one.modification == 'added']
    lifecycle.install_node_instances(ctx.graph_mode(), added)
    modification.finish()
    ctx.refresh_node_instances()
ctx.logger.info('now %s' % sorted((one.node_id, one.state) for one in ctx.node_instances
                              if one.node_id in ('a', 'b', 'c')))
