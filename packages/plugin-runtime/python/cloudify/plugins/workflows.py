"""Built-in workflows as functions, for code that is more than one of them. Each changes into graph mode."""
from cloudify.plugins import lifecycle
from cloudify.workflows import ctx as workflow


def _chosen(ctx, node_ids=None, node_instance_ids=None, type_names=None):
    def is_wanted(instance):
        return ((not node_ids or instance.node_id in node_ids)
                and (not node_instance_ids or instance.id in node_instance_ids)
                and (not type_names or any(name in instance.node.type_hierarchy for name in type_names)))
    return set(instance for instance in ctx.node_instances if is_wanted(instance))


def _others(ctx, chosen):
    return set(ctx.node_instances) - chosen


def install(ctx=None, node_ids=None, node_instance_ids=None, type_names=None, **_):
    ctx = ctx or workflow
    chosen = _chosen(ctx, node_ids, node_instance_ids, type_names)
    lifecycle.install_node_instances(ctx.graph_mode(), chosen, _others(ctx, chosen))


def uninstall(ctx=None, ignore_failure=False, node_ids=None, node_instance_ids=None, type_names=None, **_):
    ctx = ctx or workflow
    chosen = _chosen(ctx, node_ids, node_instance_ids, type_names)
    lifecycle.uninstall_node_instances(ctx.graph_mode(), chosen, ignore_failure, _others(ctx, chosen))


def reinstall(ctx=None, ignore_failure=False, node_ids=None, node_instance_ids=None, type_names=None, **_):
    ctx = ctx or workflow
    chosen = _chosen(ctx, node_ids, node_instance_ids, type_names)
    lifecycle.reinstall_node_instances(ctx.graph_mode(), chosen, _others(ctx, chosen), ignore_failure)


def execute_operation(ctx=None, operation=None, operation_kwargs=None, allow_kwargs_override=None,
                      run_by_dependency_order=False, type_names=None, node_ids=None, node_instance_ids=None, **_):
    """Runs an operation on the chosen instances that have it, each between two events."""
    ctx = ctx or workflow
    graph = ctx.graph_mode()
    chosen = _chosen(ctx, node_ids, node_instance_ids, type_names)
    begins = 'Starting operation %s' % operation
    if operation_kwargs:
        begins += ' (Operation parameters: %s)' % operation_kwargs
    subgraphs = {}
    for instance in sorted(ctx.node_instances, key=lambda one: one.id):
        if instance in chosen and instance.node.has_operation(operation):
            subgraphs[instance.id] = graph.subgraph(instance.id)
            subgraphs[instance.id].sequence().add(
                instance.send_event(begins),
                instance.execute_operation(operation, kwargs=operation_kwargs,
                                           allow_kwargs_override=bool(allow_kwargs_override)),
                instance.send_event('Finished operation %s' % operation))
        elif run_by_dependency_order:
            subgraphs[instance.id] = graph.subgraph(instance.id)
    if run_by_dependency_order:
        for instance in ctx.node_instances:
            for relationship in instance.relationships:
                graph.add_dependency(subgraphs[instance.id], subgraphs[relationship.target_id])
    graph.execute()


def _run_lifecycle(name):
    def run(ctx=None, operation_parms=None, run_by_dependency_order=True, type_names=None, node_ids=None,
            node_instance_ids=None, **_):
        execute_operation(ctx, 'cloudify.interfaces.lifecycle.' + name, operation_parms or {}, True,
                          run_by_dependency_order, type_names, node_ids, node_instance_ids)
    run.__name__ = name
    return run


start = _run_lifecycle('start')
stop = _run_lifecycle('stop')
pull = _run_lifecycle('pull')


def restart(ctx=None, stop_parms=None, start_parms=None, run_by_dependency_order=True, type_names=None, node_ids=None,
            node_instance_ids=None, **_):
    where = (run_by_dependency_order, type_names, node_ids, node_instance_ids)
    stop(ctx, stop_parms, *where)
    start(ctx, start_parms, *where)


def rollback(ctx=None, type_names=None, node_ids=None, node_instance_ids=None, full_rollback=False, **_):
    ctx = ctx or workflow
    unresolved = ('creating', 'configuring', 'starting')
    chosen = set(i for i in _chosen(ctx, node_ids, node_instance_ids, type_names) if i.state in unresolved)
    lifecycle.rollback_node_instances(ctx.graph_mode(), chosen, _others(ctx, chosen), True, full_rollback=full_rollback)
