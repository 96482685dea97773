import time

from cloudify import ctx, manager
from cloudify.decorators import operation
from cloudify.exceptions import NonRecoverableError
from cloudify_types.shared_resource.operations import execute_workflow


@operation(resumable=True)
def plant(depth, **_):
    if ctx.operation.retry_number == 0:
        return ctx.operation.retry('the ground is frozen', 0)
    print('digging')
    me = manager.get_rest_client().node_instances.get(ctx.instance.id)
    ctx.instance.runtime_properties['planted'] = [ctx.node.properties['kind'], depth, me.node_id]


def broken(**_):
    raise NonRecoverableError('the ladder broke')


@operation(resumable=True)
def borrow(**_):
    """Runs a workflow of the shared resource that this relationship leads to."""
    return execute_workflow('harvest', {'baskets': 7})


@operation
def fell(**_):
    if ctx.instance.runtime_properties.pop('rotten', False):
        raise NonRecoverableError('it fell by itself')


@operation
def ripen(**_):
    """Its first run goes on for long. A later run finds what the first one has noted, and ends."""
    if ctx.instance.runtime_properties.get('ripens'):
        ctx.logger.info('is ripe')
        return
    ctx.instance.runtime_properties['ripens'] = True
    ctx.instance.update()
    ctx.logger.info('ripens')
    time.sleep(600)
