from cloudify.plugins import lifecycle
from cloudify.workflows import ctx

modification = ctx.deployment.start_modification({'a': {'instances': 2}})
added = [i for i in modification.added.node_instances if i.modification == 'added']
lifecycle.install_node_instances(ctx.graph_mode(), added)
modification.finish()
ctx.refresh_node_instances()
ctx.logger.info('now %s' % sorted((i.node_id, i.state) for i in ctx.node_instances))
