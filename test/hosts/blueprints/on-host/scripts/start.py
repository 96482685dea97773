import socket
from cloudify import ctx
from cloudify.state import ctx_parameters as inputs

where = dict(ctx.instance.runtime_properties['where'])
where['python'] = socket.gethostname()
ctx.instance.runtime_properties['where'] = where
ctx.logger.info('python says {0} on {1}'.format(inputs['said'], socket.gethostname()))
