from cloudify.decorators import workflow
from cloudify.workflows import ctx


@workflow(resumable=True)
def run():
    a = next(ctx.get_node('a').instances)
    ctx.logger.info('code runs, resumed: %s' % ctx.resume)
    said = a.execute_operation('ops.say', kwargs={'WORD': 'once'}, allow_kwargs_override=True).get()
    ctx.logger.info('before: %s' % said)
    a.execute_operation('ops.slow', kwargs={'SECONDS_LONG': 2}).get()
    ctx.send_event('came to the end')


run()
