# A sequence longer than Python's limit of recursion, in reverse order of its making.
from cloudify.workflows import ctx

graph = ctx.graph_mode()
tasks = [ctx.send_event('step %d' % i) for i in range(5000)]
for task in tasks:
    graph.add_task(task)
for before, after in zip(tasks, tasks[1:]):
    graph.add_dependency(before, after)
graph.execute()
ctx.logger.info('came to the end')
