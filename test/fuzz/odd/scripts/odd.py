"""One odd thing, by the seed and the place of the operation."""
import os
import sys
import threading
import time
import zlib

from cloudify import ctx, exceptions
from cloudify.state import ctx_parameters as inputs

chosen = zlib.crc32(('%s %s %s' % (inputs['seed'], ctx.operation.name, ctx.operation.retry_number)).encode())
deep = []
for _ in range(20000):
    deep = [deep]
values = [None, -0.0, float('nan'), float('inf'), 10 ** 400, b'x', '\0', '\ud800', {1: 2, 'a': 3}, {None: 1}, {('a',): 1},
          set(), object(), deep, 'x' * 2000000, {'__proto__': 1, 'constructor': {}}, lambda: 1, ctx, [ctx.instance] if
          ctx.type == 'node-instance' else 1]
value = values[chosen // 64 % len(values)]


class Odd(Exception):
    def __str__(self):
        raise ValueError('no text')


def properties():
    return (ctx.instance if ctx.type == 'node-instance' else ctx.source.instance).runtime_properties


def fill():
    properties()['odd'] = value


def replace():
    ctx.instance.runtime_properties = value


def throw(error):
    raise error


def talk():
    for n in range(3000):
        ctx.logger.info('line %s', n)
    ctx.logger.error(value)
    ctx.send_event(value)


def at_once():
    threads = [threading.Thread(target=ctx.instance.update) for _ in range(5)]
    properties()['odd'] = 1
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ctx.instance.update(lambda mine, latest: value)


def tell_secret():
    secret = inputs['secret']
    print(secret)
    ctx.logger.info(secret)
    ctx.send_event({'a': secret})
    properties()['hidden'] = 1
    raise exceptions.NonRecoverableError(secret, causes=[{'message': secret, 'type': secret, 'traceback': secret}])


actions = [
    fill, replace, talk, at_once, tell_secret,
    lambda: ctx.returns(value),
    lambda: throw(Odd()),
    lambda: throw(exceptions.NonRecoverableError(value, causes=[value, {'type': value}])),
    lambda: throw(exceptions.RecoverableError(value, retry_after=value if chosen % 2 else 0)),
    lambda: throw(exceptions.OperationRetry('again', retry_after=0)),
    lambda: throw(KeyboardInterrupt()),
    lambda: sys.exit(value),
    lambda: os._exit(7),
    lambda: os.kill(os.getpid(), 9),
    lambda: os.abort(),
    lambda: sys.stdout.close(),
    lambda: os.close(1),
    lambda: os.fork() or os._exit(0),
    lambda: time.sleep(30),
    lambda: sys.stdout.buffer.write(b'\xff\x00\n' * 1000 + b'half'),
    lambda: ctx.get_resource(value),
    lambda: ctx.get_resource_and_render('odd.txt', {'value': value}),
    lambda: ctx.operation.retry(value, value),
    lambda: ctx.abort_operation(value),
    lambda: ctx.retry_operation(value, 0),
    lambda: setattr(ctx.node, 'properties', value),
    lambda: ctx.node.properties.update(a=1),
    lambda: ctx.instance.refresh(value),
    lambda: [properties().__setitem__(str(n), n) for n in range(20000)],
    lambda: exec('x = ' + '(' * 500 + ')' * 500),
]
actions[chosen % len(actions)]()
