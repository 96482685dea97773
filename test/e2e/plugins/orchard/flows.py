from cloudify.decorators import workflow
from cloudify.workflows import ctx


@workflow
def harvest(baskets, **_):
    for node in ctx.nodes:
        for instance in node.instances:
            ctx.logger.info('%d baskets of %s', baskets, node.properties['kind'])
