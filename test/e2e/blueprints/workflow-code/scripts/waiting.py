from cloudify.workflows import ctx

a = next(ctx.get_node('a').instances)
ctx.logger.info('waits')
a.execute_operation('ops.slow', kwargs={'SECONDS_LONG': 3}).get()
a.execute_operation('ops.say').get()
