import time

from cloudify.workflows import api, ctx

try:
    ctx.update_execution_status('cancelling').get()
except api.ExecutionCancelled:
    pass
while not api.has_cancel_request():
    time.sleep(0.1)
ctx.logger.info('the status is %s' % ctx.get_execution().status)
