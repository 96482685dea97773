"""The built-in sequences on chosen instances: carried out by the engine like install, uninstall and rollback."""
from cloudify import constants
from cloudify.workflows import ctx
from cloudify.workflows.tasks import LifecycleTask


def _ids(instances):
    return sorted(i.id for i in instances or [])


def _lifecycle(graph, direction, node_instances, related_nodes, ignore_failure):
    chosen = _ids(node_instances)
    task = LifecycleTask({'item': 'lifecycle', 'direction': direction, 'instanceIds': chosen,
                          'relatedIds': [i for i in _ids(related_nodes) if i not in chosen],
                          'isIgnoringFailure': bool(ignore_failure)}, name=direction, context=ctx)
    graph.add_task(task)
    graph.execute()
    ctx.refresh_node_instances()


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


def is_host_node(node_instance):
    return constants.COMPUTE_NODE_TYPE in node_instance.node.type_hierarchy


def is_compute(node):
    return constants.COMPUTE_NODE_TYPE in node.type_hierarchy
