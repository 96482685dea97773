# Tasks that wait for each other are refused before anything runs, and named.
from cloudify.workflows import ctx

graph = ctx.graph_mode()
one, two = graph.subgraph('one'), graph.subgraph('two')
try:
    graph.add_dependency(one, two)
    graph.add_dependency(two, one)
    graph.execute()
except RuntimeError as error:
    ctx.logger.info('refused: %s', error)

for task in (one, two):
    graph.remove_task(task)
one, two = graph.subgraph('first'), graph.subgraph('second')
inner, other = ctx.send_event('inner'), ctx.send_event('other')
one.add_task(inner)
two.add_task(other)
graph.add_dependency(inner, two)
graph.add_dependency(other, one)
graph.execute()
