from cloudify import ctx
from cloudify.manager import get_node_instance

seen = ctx.instance.runtime_properties.get('seen', [])
ctx.instance.runtime_properties['seen'] = seen + [get_node_instance(ctx.instance.id).state]
ctx.instance.runtime_properties['kept'] = 1
