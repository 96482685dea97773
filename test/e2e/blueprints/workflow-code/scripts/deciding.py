from cloudify import exceptions
from cloudify.workflows import ctx
from cloudify.workflows.tasks import HandlerResult, NOPLocalWorkflowTask

graph = ctx.graph_mode()
a, b = [next(ctx.get_node(n).instances) for n in ('a', 'b')]
told = []


def hears(task):
    told.append('%s %s' % (task.get_state(), task.async_result.get()))
    return HandlerResult.cont()


def hears_failure(task):
    told.append('%s %s' % (task.get_state(), isinstance(task.async_result.result, exceptions.RecoverableError)))
    return HandlerResult.ignore()


# An operation, a step, a subgraph, and what is not implemented: each is asked what follows from its end.
say = a.execute_operation('ops.say', kwargs={'WORD': 'asked'}, allow_kwargs_override=True)
fails = a.execute_operation('ops.fail')
step = ctx.local_task(lambda: 40 + len(told), name='count')
inner = graph.subgraph('inner')
inner.add_task(b.send_event('inside'))
nothing = a.execute_operation('ops.nothing')
say.on_success = step.on_success = hears
fails.on_failure = hears_failure
inner.on_success = nothing.on_success = lambda task: told.append(task.name)
graph.sequence().add(say, fails, step, inner, nothing, a.send_event('all were asked'))
graph.execute()
ctx.logger.info('told %s' % told)
ctx.logger.info('nothing %s' % isinstance(nothing, NOPLocalWorkflowTask))


def attempt(number):
    """A subgraph whose failure is answered with another one in its place."""
    subgraph = graph.subgraph('attempt %d' % number)
    operation = 'ops.fail' if number == 1 else 'ops.say'
    subgraph.sequence().add(a.execute_operation(operation), a.send_event('attempt %d is over' % number))

    def instead(task):
        for member in task.tasks.values():
            task.graph.remove_task(member)
        answer = HandlerResult.retry(ignore_total_retries=True)
        answer.retried_task = attempt(number + 1)
        ctx.logger.info('%s failed of %s' % (task.name, task.failed_task.name))
        return answer
    subgraph.on_failure = instead
    return subgraph


first = attempt(1)
last = ctx.send_event('attempts are over', event_type='own_stage')
graph.add_task(last)
graph.add_dependency(last, first)
graph.execute()

ctx.internal.graph_mode = False
objects = ctx.local_task(lambda: {1, 2}).get()
ctx.logger.info('objects %s' % sorted(objects))
for operation, kind in (('ops.fail', exceptions.RecoverableError), ('ops.say', ValueError)):
    def broken():
        raise ValueError('of the step')
    work = a.execute_operation(operation) if kind is not ValueError else ctx.local_task(broken, total_retries=0)
    try:
        work.get()
    except kind as error:
        ctx.logger.info('raised %s' % type(error).__name__)
