from cloudify.workflows import ctx
from cloudify.workflows.tasks_graph import forkjoin

graph = ctx.graph_mode()
sequence = graph.sequence()
a, b = [next(ctx.get_node(n).instances) for n in ('a', 'b')]
sequence.add(a.send_event('first'), forkjoin(a.execute_operation('ops.flaky'), b.execute_operation('ops.say')))
sub = graph.subgraph('inner')
inner = sub.sequence()
last = a.execute_operation('ops.say', kwargs={'WORD': 'inner'}, allow_kwargs_override=True)
inner.add(a.send_event('inside'), last)
sequence.add(sub, b.send_event('last'))
graph.execute()
ctx.logger.info('the graph answered %s' % last.get())
