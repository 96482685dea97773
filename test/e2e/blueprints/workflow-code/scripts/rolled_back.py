from cloudify.plugins import lifecycle, workflows
from cloudify.workflows import ctx

graph = ctx.graph_mode()
a, b = [next(ctx.get_node(n).instances) for n in ('a', 'b')]
for instance, state in ((a, 'starting'), (b, 'creating')):
    graph.add_task(instance.set_state(state))
graph.execute()
ctx.refresh_node_instances()
lifecycle.rollback_node_instances(graph, set(ctx.node_instances), ignore_failure=True)
ctx.logger.info('rolled back %s' % sorted('%s %s' % (i.node_id, i.state) for i in ctx.node_instances))
workflows.install(node_ids=['a'])
ctx.logger.info('installed %s' % sorted('%s %s' % (i.node_id, i.state) for i in ctx.node_instances))
workflows.execute_operation(operation='ops.say', node_ids=['a'], run_by_dependency_order=True)
workflows.uninstall()
