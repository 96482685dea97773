// Workflows and operations in JavaScript for the end-to-end suite, registered by BATON_WORKER_HANDLERS: equivalent to its Python
// scripts.
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

module.exports.handlers = (sdk) => ({
  'ops.say': sdk.resumable(async (ctx, { word = 'nothing' }) => {
    ctx.logger.info(`op says ${word}`);
    (await ctx.instance()).runtimeProperties.said = word;
    return `said ${word}`;
  }),
  'ops.fail': async () => {
    throw new sdk.RetryableError('never');
  },
  'ops.flaky': async (ctx) => {
    if (ctx.operation.retryNumber < 2) throw new sdk.RetryableError('not yet');
    return 'third time';
  },
  'ops.slow': sdk.resumable(async (ctx, { seconds = 3 }) => {
    ctx.logger.info('slow begins');
    await wait(seconds * 1000);
    return 'done';
  }),
});

const instanceOf = async (ctx, node) => (await ctx.model()).instances.find((one) => one.node_id === node).id;
const say = (word, more = {}) => ({ kwargs: { word }, mayOverride: true, ...more });

module.exports.workflows = (sdk) => ({
  'wf.sequence': async (ctx, { word }) => {
    const { instances } = await ctx.model();
    for (const { id, node_id } of instances) {
      const said = await ctx.executeOperation(id, 'ops.say', say(word));
      ctx.logger.info(`${node_id} answered ${said}`);
      await ctx.sendNodeEvent(id, 'heard');
      await ctx.setState(id, 'talked');
    }
    if ((await ctx.executeOperation(instances[0].id, 'ops.none')) !== null)
      throw new Error('an answer of nothing');
    await ctx.sendEvent(`sequence of ${ctx.deployment.id} is over`);
  },
  'wf.graph': async (ctx) => {
    const [a, b] = [await instanceOf(ctx, 'a'), await instanceOf(ctx, 'b')];
    const graph = ctx.graph();
    const inner = graph.subgraph('inner');
    const inside = inner.nodeEvent(a, 'inside');
    graph.dependency(inner.operation(a, 'ops.say', say('inner')), inside);
    graph.sequence(
      graph.nodeEvent(a, 'first'),
      [
        graph.operation(a, 'ops.flaky', { totalRetries: 2, retryInterval: 0.05 }),
        graph.operation(b, 'ops.say'),
      ],
      inner,
      graph.nodeEvent(b, 'last'),
    );
    await graph.execute();
    const { instances } = await ctx.model();
    ctx.logger.info(`the graph left ${instances.find(({ id }) => id === a).runtime_properties.said}`);
  },
  'wf.failing': async (ctx) => {
    await ctx.executeOperation(await instanceOf(ctx, 'a'), 'ops.fail', {
      totalRetries: 1,
      retryInterval: 0.05,
    });
    ctx.logger.info('never told');
  },
  'wf.circle': async (ctx) => {
    const graph = ctx.graph();
    const [one, other] = [graph.event('one'), graph.event('other')];
    graph.sequence(one, other, one);
    await graph.execute();
  },
  // Blocks its thread for ever.
  'wf.spinning': async (ctx) => {
    ctx.logger.info('slow begins');
    await wait(50);
    for (;;) Math.random();
  },
  'wf.talking': (ctx) => {
    for (let i = 0; ; i++) ctx.logger.info(`slow begins ${i}`);
  },
  'wf.leaving': async () => {
    setImmediate(() => {
      throw new TypeError('nobody catches it');
    });
    await wait(60_000);
  },
  'wf.growing': async () => {
    const held = [];
    for (;;) held.push(new Array(100_000).fill(held.length));
  },
  'wf.broken': () => {
    throw new TypeError('broken on purpose');
  },
  'wf.handled': async (ctx) => {
    const a = await instanceOf(ctx, 'a');
    const asked = [];
    const graph = ctx.graph();
    const onFailure = ({ message }) => {
      asked.push(message);
      return asked.length < 2 ? { decision: 'retry', retryAfter: 0.05 } : 'ignore';
    };
    graph.sequence(
      graph.operation(a, 'ops.fail', { totalRetries: 5, onFailure }),
      graph.nodeEvent(a, 'all the same'),
    );
    await graph.execute();
    ctx.logger.info(`asked ${asked.length}`);
    try {
      await ctx.executeOperation(a, 'ops.fail', { totalRetries: 0 });
    } catch (error) {
      ctx.logger.info(`caught ${error instanceof sdk.WorkflowFailedError}: ${error.message}`);
    }
  },
  'wf.steps': async (ctx) => {
    const tries = [];
    const count = () => {
      tries.push(1);
      if (tries.length < 2) throw new Error('not yet');
      return 40 + tries.length;
    };
    const counted = await ctx.step('count', count, { totalRetries: 2, retryInterval: 0.05 });
    ctx.logger.info(`counted ${counted}`);
  },
  'wf.lifecycle': async (ctx) => {
    const ids = (await ctx.model()).instances.map(({ id }) => id);
    const states = async () => [...new Set((await ctx.model()).instances.map(({ state }) => state))].join();
    await ctx.install(ids);
    ctx.logger.info(`states ${await states()}`);
    await ctx.uninstall(ids);
    ctx.logger.info(`states ${await states()}`);
  },
  'wf.waiting': async (ctx) => {
    const a = await instanceOf(ctx, 'a');
    await ctx.executeOperation(a, 'ops.slow');
    await ctx.executeOperation(a, 'ops.say');
  },
  'wf.giving-in': async (ctx) => {
    ctx.logger.info('slow begins');
    await new Promise((resolve) => ctx.cancelSignal.addEventListener('abort', resolve));
    return 'execution_cancelled';
  },
  'wf.resumable': {
    isResumable: true,
    run: async (ctx) => {
      const a = await instanceOf(ctx, 'a');
      ctx.logger.info(`code runs, resumed: ${ctx.isResumed}`);
      await ctx.executeOperation(a, 'ops.say', say('once'));
      await ctx.executeOperation(a, 'ops.slow', { kwargs: { seconds: 2 }, mayOverride: true });
      await ctx.sendEvent('came to the end');
    },
  },
});
