import json

from cloudify import manager
from cloudify.workflows import ctx

client = manager.get_rest_client()
instance = next(ctx.get_node('a').instances)
before = client.node_instances.get(instance.id)
ctx.update_node_instance(instance.id, version=before.version, runtime_properties={'by': 'rest'})
own = ctx.get_execution()
child = ctx.start_execution('other', 'nothing')
settings = ctx.internal.get_task_configuration()
ctx.logger.info('rest %s %s %s %s' % (own.workflow_id, own.status, child.deployment_id, settings['total_retries'] >= -1))
answer = next(ctx.get_node('a').instances).execute_operation('ops.ask').get()
ctx.logger.info('rest answered %s' % json.dumps(answer, sort_keys=True))
