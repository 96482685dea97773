from cloudify import ctx

del ctx.instance.runtime_properties['seen']
