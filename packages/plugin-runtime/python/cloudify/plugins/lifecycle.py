"""The built-in sequences on chosen instances: carried out by the engine like install, uninstall and rollback."""
from cloudify import constants
from cloudify.workflows import ctx
from cloudify.workflows.tasks import HandlerResult, LifecycleTask


def _ids(instances):
    return sorted(i.id for i in instances or [])


def _task(direction, node_instances, related_nodes, ignore_failure):
    chosen = _ids(node_instances)
    return LifecycleTask({'item': 'lifecycle', 'direction': direction, 'instanceIds': chosen,
                          'relatedIds': [i for i in _ids(related_nodes) if i not in chosen],
                          'isIgnoringFailure': bool(ignore_failure)}, name=direction, context=ctx)


def _lifecycle(graph, direction, node_instances, related_nodes, ignore_failure):
    graph.add_task(_task(direction, node_instances, related_nodes, ignore_failure))
    graph.execute()
    ctx.refresh_node_instances()


def _subgraph(direction, instance, graph, ignore_failure):
    """A subgraph around the sequence of one instance: what it does follows from the instance's state when it is executed."""
    around = graph.subgraph('%s_%s' % (direction, instance.id))
    # The sequence tells its own begin and end.
    around.send_task_events = False
    around.add_task(_task(direction, [instance], None, ignore_failure))
    return around


def install_node_instances(graph, node_instances, related_nodes=None, name_prefix=''):
    _lifecycle(graph, 'install', node_instances, related_nodes, False)


def uninstall_node_instances(graph, node_instances, ignore_failure=False, related_nodes=None, name_prefix=''):
    _lifecycle(graph, 'uninstall', node_instances, related_nodes, ignore_failure)


def reinstall_node_instances(graph, node_instances, related_nodes=None, ignore_failure=False, name_prefix=''):
    uninstall_node_instances(graph, node_instances, ignore_failure, related_nodes)
    install_node_instances(graph, node_instances, related_nodes)


def rollback_node_instances(graph, node_instances, related_nodes=None, ignore_failure=False, name_prefix='',
                            full_rollback=False):
    """Takes half-done instances back: those that were starting to configured, those before that to uninitialized."""
    _lifecycle(graph, 'rollback', node_instances, related_nodes, ignore_failure)
    if full_rollback:
        uninstall_node_instances(graph, ctx.node_instances)


def install_node_instance_subgraph(instance, graph, **_):
    """A subgraph that installs one instance; its order among others is the caller's."""
    return _subgraph('install', instance, graph, False)


def uninstall_node_instance_subgraph(instance, graph, ignore_failure=False):
    return _subgraph('uninstall', instance, graph, ignore_failure)


def rollback_node_instance_subgraph(instance, graph, ignore_failure):
    return _subgraph('rollback', instance, graph, ignore_failure)


def set_send_node_event_on_error_handler(task, instance):
    """A failure of the task is told as an event of the instance, and the graph goes on."""
    def ignore(failed):
        instance.send_event('Ignoring task %s failure' % failed.name).apply_async()
        return HandlerResult.ignore()
    task.on_failure = ignore


def ignore_subgraph_on_task_failure(subgraph):
    """Failures in the subgraph, at any depth, are logged and nothing more."""
    def ignore(failed):
        ctx.logger.info('Ignoring the failure of %s' % failed.name)
        return HandlerResult.ignore()
    for task in subgraph.tasks.values():
        if task.is_subgraph:
            ignore_subgraph_on_task_failure(task)
        task.on_failure = ignore


def is_host_node(node_instance):
    return constants.COMPUTE_NODE_TYPE in node_instance.node.type_hierarchy


def is_compute(node):
    return constants.COMPUTE_NODE_TYPE in node.type_hierarchy
