import time
from cloudify.workflows import api, ctx

ctx.logger.info('asks')
while not api.has_cancel_request():
    time.sleep(0.1)
ctx.logger.info('was told')
raise api.ExecutionCancelled()
