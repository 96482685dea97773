from cloudify.workflows import ctx
from cloudify.workflows.tasks import HandlerResult

graph = ctx.graph_mode()
sequence = graph.sequence()
a = next(ctx.get_node('a').instances)
task = a.execute_operation('ops.fail')
asked = []


def on_failure(task):
    asked.append(task.current_retries)
    return HandlerResult.retry() if len(asked) < 2 else HandlerResult.ignore()


task.on_failure = on_failure
sequence.add(task, a.send_event('all the same'))
graph.execute()
ctx.logger.info('asked %s' % asked)
try:
    task = ctx.internal
    ctx.internal.graph_mode = False
    a.execute_operation('ops.fail').get()
except RuntimeError as error:
    ctx.logger.info('caught %s' % error)
