from cloudify.workflows import ctx

graph = ctx.graph_mode()
sequence = graph.sequence()
tries = []


def count(start):
    tries.append(start)
    if len(tries) < 2:
        raise ValueError('not yet')
    return start + len(tries)


a = next(ctx.get_node('a').instances)
task = ctx.local_task(count, kwargs={'start': 40}, total_retries=2, retry_interval=0.1, name='count')
sequence.add(task, a.execute_operation('ops.say'))
graph.execute()
ctx.logger.info('counted %s' % task.get())
