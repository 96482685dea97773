// Operations for the tests of workers: a plain module, loaded as BATON_WORKER_HANDLERS.
exports.handlers = ({ FatalError, OperationDeferred }) => ({
  'probe.nop': () => null,
  'probe.say': (ctx, { text, times }) => {
    ctx.logger.info(text.repeat(times));
    ctx.sendEvent({ after: 1 });
  },
  'probe.op': async (ctx, inputs) => {
    if (inputs.log) ctx.logger.info(inputs.log);
    if (inputs.set) Object.assign((await ctx.instance()).runtimeProperties, inputs.set);
    if (inputs.fail) throw new FatalError(inputs.fail);
    return inputs.returns ?? null;
  },
  'probe.defer': async (ctx, inputs) => {
    (await ctx.instance()).runtimeProperties.looked = true;
    throw new OperationDeferred('waits', inputs);
  },
  'probe.wait': (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)),
});
