import time

from cloudify.decorators import workflow
from cloudify.plugins import lifecycle
from cloudify.workflows import api, ctx


@workflow
def harvest(baskets, **_):
    for node in [node for node in ctx.nodes if 'kind' in node.properties]:
        for instance in node.instances:
            ctx.logger.info('%d baskets of %s', baskets, node.properties['kind'])


@workflow
def regrow(order, **_):
    """Takes nodes away in an order of its own, and brings them back in it."""
    _one_by_one(lifecycle.uninstall_node_instance_subgraph, order)
    ctx.refresh_node_instances()
    _one_by_one(lifecycle.install_node_instance_subgraph, order)


def _one_by_one(make, order):
    graph = ctx.graph_mode()
    last = None
    for name in order:
        for instance in ctx.get_node(name).instances:
            around = make(instance, graph)
            if last is not None:
                graph.add_dependency(around, last)
            last = around
    graph.execute()


@workflow
def prune(**_):
    """An operation that fails and does not stop the others."""
    graph = ctx.graph_mode()
    instance = next(ctx.get_node('tree').instances)
    broken = instance.execute_operation('odd.broken')
    lifecycle.set_send_node_event_on_error_handler(broken, instance)
    graph.sequence().add(broken, instance.send_event('pruned'))
    graph.execute()


@workflow
def give_in(**_):
    """Older code returns this value when it finds a cancel."""
    ctx.logger.info('looks for a cancel')
    while not api.has_cancel_request():
        time.sleep(0.1)
    return api.EXECUTION_CANCELLED_RESULT
