from cloudify.workflows import ctx

graph = ctx.graph_mode()
sequence = graph.sequence()
a = next(ctx.get_node('a').instances)
sequence.add(a.execute_operation('ops.fail'), a.send_event('never told'))
graph.execute()
