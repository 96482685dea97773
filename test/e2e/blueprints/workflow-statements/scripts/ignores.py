import time
from cloudify.workflows import ctx

ctx.logger.info('ignores')
time.sleep(600)
