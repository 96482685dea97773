from cloudify.workflows import ctx

next(ctx.get_node('a').instances).execute_operation('ops.say')
ctx.graph_mode()
