from cloudify import ctx
ctx.abort_operation('no use in Python')
print('goes on')
