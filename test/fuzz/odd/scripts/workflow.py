"""Odd work of a workflow that is a script, by its seed."""
import sys
import threading
import zlib

from cloudify import exceptions
from cloudify.workflows import ctx
from cloudify.workflows import parameters as inputs

chosen = zlib.crc32(str(inputs.seed).encode())
values = [None, float('nan'), float('inf'), b'x', '\0', '\ud800', {1: 2}, set(), object(), 'x' * 2000000, -1, 1.5, 'a', []]
value = values[chosen // 64 % len(values)]
instance = next(ctx.get_node('host').instances)


class Odd(Exception):
    def __str__(self):
        raise ValueError('no text')


def throw(error):
    raise error


def graph(call):
    graph = ctx.graph_mode()
    task = ctx.local_task(call, total_retries=1, retry_interval=0.01) if callable(call) else call
    graph.add_task(task)
    graph.execute()


def handled():
    graph = ctx.graph_mode()
    task = instance.execute_operation('odd.python', kwargs={'seed': chosen}, allow_kwargs_override=True)
    task.on_failure = lambda task: value
    graph.add_task(task)
    graph.execute()


actions = [
    lambda: graph(lambda: value),
    lambda: graph(lambda: throw(Odd())),
    lambda: graph(lambda: sys.exit(1)),
    lambda: graph(lambda: throw(exceptions.RecoverableError('x', retry_after=value))),
    lambda: graph(lambda: throw(exceptions.NonRecoverableError(value))),
    handled,
    lambda: ctx.send_event(value),
    lambda: instance.send_event(value),
    lambda: instance.set_state(value),
    lambda: instance.execute_operation(value).get(),
    lambda: instance.execute_operation('odd.js', kwargs={'seed': value}, allow_kwargs_override=True).get(),
    lambda: ctx.logger.info(value),
    lambda: throw(Odd()),
    lambda: throw(KeyboardInterrupt()),
    lambda: sys.exit(value),
    lambda: threading.Thread(target=lambda: graph(lambda: 1)).start(),
    lambda: [ctx.send_event(str(n)) for n in range(300)],
]
actions[chosen % len(actions)]()
