// Operations and workflows with odd behaviour and odd values, registered by BATON_WORKER_HANDLERS for `npm run fuzz`. Their
// behaviour is determined by their input `seed` and their place, so that a deployment can be replayed.
const { createHash } = require('node:crypto');

function randomOf(...parts) {
  let state = createHash('sha256').update(parts.join(' ')).digest().readUInt32LE(0);
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit) => Math.floor(next() * limit);
  return { next, below, chance: (p) => next() < p, pick: (list) => list[below(list.length)] };
}

const nested = (levels, wrap) => {
  let value = 1;
  for (let i = 0; i < levels; i++) value = wrap(value);
  return value;
};
const circle = () => {
  const value = { a: [] };
  value.a.push(value);
  return value;
};
const throwing = () => ({
  get x() {
    throw new Error('no value here');
  },
});
const gone = (target) => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};
const many = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, i]));

/** Each function returns one value. */
const VALUES = [
  ...[null, undefined, true, 0, -0, 1.5, 1e308, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, -1].map(
    (v) => () => v,
  ),
  ...['', ' ', '\0', 'a\0b', '\ud800', '\udc00\ud800', 'é😀', '\x1b[31mred', '\u2028', 'null', '"', '\\'].map(
    (v) => () => v,
  ),
  ...['__proto__', 'constructor', '{{', '{% for %}', '../..', 'x'.repeat(300)].map((v) => () => v),
  () => 'y'.repeat(70_000),
  () => '\u0001'.repeat(200_000),
  () => 'z'.repeat(3_000_000),
  () => [],
  () => ({}),
  () => [[], {}, [null], { a: undefined }],
  () =>
    JSON.parse(
      '{"__proto__": {"polluted": 1}, "constructor": 1, "toString": 2, "": 3, "a.b": 4, "a/b[0]": 5}',
    ),
  () => ({ '\0': 1, '\ud800': 2, é: 3, ['k'.repeat(10_000)]: 4 }),
  () => ({ get_attribute: ['host', 'x'] }),
  () => ({ get_secret: 'no such secret' }),
  () => ({ get_attribute: ['odd', 'odd'] }),
  () => ({ concat: [{ get_attribute: ['SELF', 'odd'] }, 1] }),
  () => many(5_000),
  () => nested(50, (v) => ({ a: v })),
  () => nested(3_000, (v) => [v]),
  () => nested(100_000, (v) => [v]),
  () => 10n,
  () => Symbol('s'),
  () => () => 1,
  () => new Date(Number.NaN),
  () => new Map([[1, 2]]),
  () => Buffer.from('bytes'),
  () => /x/g,
  () => ({
    toJSON() {
      throw new Error('no JSON');
    },
  }),
  circle,
  throwing,
  () => gone({}),
  () => Object.create(null),
  () => Promise.resolve('later'),
  () => [10n, 5],
];
const KEYS = ['a', 'odd', 'ip', '', '__proto__', 'toString', 'a.b', '\0', 'é', 'x'.repeat(2_000)];

module.exports.handlers = (sdk) => {
  const ERRORS = [Error, TypeError, RangeError, sdk.FatalError, sdk.RetryableError, sdk.OperationRetry];

  function oddError(random) {
    const value = random.pick(VALUES);
    if (random.chance(0.3)) return value();
    const Kind = random.pick(ERRORS);
    const error = new Kind('thrown on purpose', {
      retryAfter: random.pick([0, 0.01, -1, '1', Number.NaN, null]),
    });
    const change = random.pick([
      'message',
      'name',
      'stack',
      'causes',
      'exceptionType',
      'retryAfter',
      'nothing',
    ]);
    const replaced = value();
    // A wait of a hundred years would be the requested behaviour, not a finding.
    const isEndless = change === 'retryAfter' && typeof replaced === 'number' && replaced > 1;
    if (change !== 'nothing' && !isEndless) Object.defineProperty(error, change, { value: replaced });
    return error;
  }

  /** Each action does one thing and may throw. */
  const ACTIONS = [
    async (_, random) => random.pick(VALUES)(),
    async (_, random) => {
      throw oddError(random);
    },
    (_, random) => {
      throw oddError(random);
    },
    async (ctx, random) => {
      const { runtimeProperties } = await ctx.instance();
      for (let i = random.below(4); i >= 0; i--) runtimeProperties[random.pick(KEYS)] = random.pick(VALUES)();
    },
    async (ctx, random) => {
      const instance = await ctx.instance();
      instance.runtimeProperties = random.pick(VALUES)();
      if (random.chance(0.5)) await instance.update(() => random.pick(VALUES)());
    },
    async (ctx, random) => {
      const instance = await ctx.instance();
      instance.runtimeProperties.count = random.next();
      await Promise.allSettled([
        instance.update(),
        instance.update(),
        instance.refresh(),
        instance.refresh(true),
      ]);
    },
    (ctx, random) => {
      for (let i = random.pick([1, 100, 5_000]); i > 0; i--) ctx.logger.info(`line ${i}`);
      for (let i = 3; i > 0; i--)
        ctx.logger[random.pick(['debug', 'info', 'error', 'critical'])](random.pick(VALUES)());
      ctx.sendEvent(random.pick(VALUES)());
    },
    async (ctx, random) => {
      const path = random.pick(VALUES)();
      await ctx[random.pick(['getResource', 'downloadResource', 'downloadResourceAndRender'])](path);
    },
    async (ctx, random) =>
      ctx.downloadResourceAndRender('odd.txt', undefined, { value: random.pick(VALUES)() }),
    (ctx, random) =>
      ctx.operation.retry(random.pick(VALUES)(), random.pick([0, 0.01, '1', null, -5, Number.NaN])),
    async () => {
      throw Object.assign(new sdk.OperationDeferred('waits', { checkAfter: 0.5 }), { untilExecution: 5 });
    },
    async (ctx) => (await ctx.source()).instance.hostIp(),
    async (ctx) => (await ctx.instance()).hostIp(),
    // Never ends, so it exceeds its time limit.
    () => new Promise(() => undefined),
    (_, __, { secret }) => ({ secret, deep: [{ [secret]: secret }] }),
    (ctx, _, { secret }) => {
      for (const form of [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)]) {
        ctx.logger.info(`${form} in a line`);
        ctx.sendEvent(JSON.stringify({ form }));
      }
      throw new sdk.FatalError(`${'x'.repeat(256 * 1024 - 25)}${secret}`, {
        causes: [{ type: secret, message: secret }],
      });
    },
  ];

  const act = (ctx, inputs) => {
    const { name, retryNumber } = ctx.operation;
    const random = randomOf(inputs.seed, name, retryNumber);
    return random.pick(ACTIONS)(ctx, random, inputs);
  };
  /** Normal operations without odd behaviour: some fail, some fail permanently, some are slow. */
  const busy = async ({ taskId, operation }) => {
    const random = randomOf(taskId, operation.retryNumber);
    await new Promise((resolve) => setTimeout(resolve, random.chance(0.005) ? 8_000 : random.below(150)));
    if (random.chance(0.03)) throw new Error('fails by chance');
    if (random.chance(0.005)) throw new sdk.FatalError('fails for good');
  };
  return { 'odd.op': sdk.resumable(act), 'odd.fragile': act, 'busy.op': sdk.resumable(busy) };
};

module.exports.workflows = (sdk) => {
  const plain = { seed: 0 };
  const WORK = [
    async (ctx, random) => ctx.step(random.pick(VALUES)(), () => random.pick(VALUES)()),
    async (ctx, random) =>
      ctx.step(
        'throws',
        () => {
          throw random.pick(VALUES)();
        },
        { totalRetries: 1, retryInterval: 0.01 },
      ),
    async (ctx, random, id) =>
      ctx.executeOperation(id, 'odd.op', {
        kwargs: { ...plain, odd: random.pick(VALUES)() },
        mayOverride: true,
      }),
    async (ctx, random) => ctx.executeOperation(random.pick(VALUES)(), random.pick(VALUES)()),
    async (ctx, random, id) =>
      ctx.executeOperation(id, 'odd.op', {
        totalRetries: random.pick([0, 1, -1, 1.5, '2', Number.NaN]),
        retryInterval: random.pick([0.01, 0, -1, '1', Number.NaN]),
        onFailure: () =>
          random.pick([
            'fail',
            'ignore',
            undefined,
            null,
            {},
            'other',
            { decision: 'retry', retryAfter: '1' },
          ]),
      }),
    async (ctx, random) => ctx.sendEvent(random.pick(VALUES)()),
    async (ctx, random, id) => ctx.sendNodeEvent(id, random.pick(VALUES)()),
    async (ctx, random, id) => ctx.setState(id, random.pick(VALUES)()),
    async (ctx, random) => ctx.logger.info(random.pick(VALUES)()),
    async (ctx, random, id) => {
      const graph = ctx.graph();
      const inner = graph.subgraph(random.pick(VALUES)());
      graph.sequence(
        graph.event('first'),
        inner,
        Array.from({ length: random.pick([1, 50, 500]) }, (_, i) => inner.nodeEvent(id, `${i}`)),
      );
      await graph.execute();
    },
    async (ctx, random) => {
      const graph = ctx.graph();
      for (let i = 0; i < 60_000; i++) graph.event(`${i}`);
      if (random.chance(0.3)) await graph.execute();
    },
    async (_, random) => {
      throw random.pick(VALUES)();
    },
    async () => {
      setImmediate(() => {
        throw new TypeError('nobody catches it');
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
    async () => process.exit(3),
  ];
  return {
    'odd.wf': async (ctx, { seed }) => {
      const random = randomOf(seed, 'workflow');
      const { instances } = await ctx.model();
      for (let left = 1 + random.below(3); left > 0; left--) {
        const work = random.pick(WORK);
        try {
          await work(ctx, random, instances[0].id);
        } catch (error) {
          if (random.chance(0.5) || error instanceof sdk.CancelledError) throw error;
        }
      }
      return random.pick(VALUES)();
    },
  };
};
