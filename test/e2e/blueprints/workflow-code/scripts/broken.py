from cloudify.workflows import ctx

ctx.logger.info('about to break')
raise ValueError('broken on purpose')
