import time

from cloudify import ctx, inputs, manager


def stored():
    return manager.get_rest_client().node_instances.get(ctx.instance.id).runtime_properties.get('count', 0)


seen = ctx.instance.runtime_properties.get('count', 0)
if inputs.waits and ctx.operation.retry_number == 0:
    ctx.logger.info('has read %d' % seen)
    while stored() == seen:
        time.sleep(0.1)
ctx.instance.runtime_properties['count'] = seen + 1
