// Operations of the blueprint in this folder (BATON_WORKER_HANDLERS): with UPGRADE_HANGS one of them never ends.
exports.handlers = (sdk) => ({
  'op.quick': sdk.resumable(async (ctx) => {
    (await ctx.instance()).runtimeProperties.seen = 'before the upgrade';
    return 'quick';
  }),
  'op.interrupted': sdk.resumable(async () => {
    if (process.env.UPGRADE_HANGS) await new Promise(() => setInterval(() => undefined, 1_000));
    return 'ended';
  }),
});
