from cloudify.workflows import ctx, parameters as p

for node in ctx.nodes:
    for instance in node.instances:
        said = instance.execute_operation('ops.say', kwargs={'WORD': p.word}, allow_kwargs_override=True).get()
        ctx.logger.info('%s answered %s' % (node.id, said))
        instance.send_event('heard').get()
        instance.set_state('talked').get()
        for relationship in instance.relationships:
            relationship.execute_source_operation('link.join').get()
assert ctx.get_node_instance('nope') is None
assert instance.execute_operation('ops.none').get() is None
ctx.send_event('sequence of %s is over' % ctx.deployment.id)
