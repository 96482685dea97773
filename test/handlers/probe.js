// The operation `probe.probe.op` of the recorded scenarios: fails, returns and writes runtime properties according to its inputs,
// takes a random 0 to 20 ms, and writes each run to the ledger named by PROBE_LEDGER.
const { appendFileSync, mkdirSync, statSync } = require('node:fs');
const { createHash } = require('node:crypto');
const { join } = require('node:path');

const folder = process.env.PROBE_LEDGER;
mkdirSync(join(folder, 'counts'), { recursive: true });

/** Returns how often this operation has run on this instance, including this run; shared by all workers through a file. */
function nthRun(key) {
  const file = join(folder, 'counts', createHash('sha256').update(key).digest('hex'));
  appendFileSync(file, '.');
  return statSync(file).size;
}

module.exports.handlers = (sdk) => ({
  'probe.op': sdk.resumable(async (ctx, inputs) => {
    const { fail_times: times, error, set, set_on: side, returns } = inputs;
    const name = ctx.operation.name.split('.').at(-1);
    const isRelationship = ctx.type === 'relationship-instance';
    const source = isRelationship ? await ctx.source() : null;
    const target = isRelationship ? await ctx.target() : null;
    const self = isRelationship ? null : { node: await ctx.node(), instance: await ctx.instance() };
    const label = isRelationship ? `${name} ${source.node.id}->${target.node.id}` : `${name} ${self.node.id}`;
    const ids = isRelationship ? `${source.instance.id} ${target.instance.id}` : self.instance.id;
    const nth = nthRun(
      `${ctx.deployment.id} ${ctx.operation.name} ${ctx.operation.relationship ?? ''} ${ids}`,
    );
    const isFailed = typeof times === 'number' && (times < 0 || nth <= times);
    const from = Number(process.hrtime.bigint() / 1000n);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    if (!isFailed && set) {
      const instance = isRelationship ? (side === 'target' ? target : source).instance : self.instance;
      Object.assign(instance.runtimeProperties, set);
    }
    const to = Number(process.hrtime.bigint() / 1000n);
    const instances = isRelationship ? [source.instance.id, target.instance.id] : [self.instance.id];
    const line = { execution: ctx.executionId, label, instances, from, to, isFailed };
    appendFileSync(join(folder, 'calls.jsonl'), `${JSON.stringify(line)}\n`);
    if (!isFailed) return returns ?? null;
    if (error === 'retry') throw new sdk.OperationRetry('again', { retryAfter: 0.05 });
    if (error === 'nonrecoverable') throw new sdk.FatalError('told to fail');
    if (error === 'exception') throw new Error('told to fail');
    throw new sdk.RetryableError('told to fail');
  }),
});
