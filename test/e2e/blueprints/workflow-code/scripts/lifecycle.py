from cloudify.plugins import lifecycle
from cloudify.workflows import ctx

graph = ctx.graph_mode()
instances = list(ctx.node_instances)
lifecycle.install_node_instances(graph, instances)
ctx.logger.info('states %s' % sorted(set(i.state for i in ctx.node_instances)))
lifecycle.uninstall_node_instances(ctx.graph_mode(), list(ctx.node_instances))
ctx.logger.info('states %s' % sorted(set(i.state for i in ctx.node_instances)))
