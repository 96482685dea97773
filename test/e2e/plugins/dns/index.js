// The code of a TypeScript plugin as `baton plugins build` bundles it: one file, without imports from outside.
const resumable = (operation) =>
  Object.assign(operation, { [Symbol.for('baton.resumable-operation')]: true });
let created = 0;

async function create(ctx, inputs) {
  const [node, instance] = [await ctx.node(), await ctx.instance()];
  const token = await ctx.secret('dns_token');
  ctx.logger.info(`asked with ${token}`);
  const id = await ctx.step('record', async () => `record-${node.properties.name}-${inputs.ttl}`);
  if (ctx.operation.retryNumber === 0) {
    const error = new Error('the zone is locked');
    throw Object.assign(error, {
      [Symbol.for('baton.operation-error')]: 'retryable',
      exceptionType: 'RecoverableError',
      retryAfter: 0,
      causes: [],
    });
  }
  instance.runtimeProperties.record = { id, tries: ctx.operation.retryNumber, created: ++created };
}

module.exports = {
  name: 'dns',
  version: '1.2.0',
  operations: {
    'dns.nodes.Record.create': create,
    'dns.nodes.Record.delete': async (ctx) => {
      ctx.sendEvent(`deleted ${(await ctx.instance()).runtimeProperties.record.id}`);
    },
    'crash.always': () => {
      console.error('the library gave up');
      process.stderr.write('assertion failed in c.cc\n');
      process.exit(9);
    },
    'crash.once': resumable((ctx) => (ctx.isResumed ? ctx.sendEvent('ran again') : process.exit(9))),
    'secret.other': (ctx) => ctx.secret('not_declared'),
  },
};
