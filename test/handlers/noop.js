// Operations that end immediately, for benchmarks: `noop.op` in blueprints, registered by BATON_WORKER_HANDLERS.
module.exports = { handlers: (sdk) => ({ 'noop.op': sdk.resumable(async () => null) }) };
