// Operations that write down in a file outside of the system when they begin and end (BATON_WORKER_HANDLERS).
// They are rude: told to stop, they go on to the end, as a program on another machine would.
const { randomUUID } = require('node:crypto');
const { appendFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');

const dir = process.env.FAULT_DIR;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function write(phase, ctx, run, more) {
  const line = {
    t: Date.now(),
    phase,
    execution: ctx.executionId,
    task: ctx.taskId,
    run,
    pid: process.pid,
    ...more,
  };
  // Opens with O_APPEND and writes once: lines of several processes are never mixed.
  appendFileSync(join(dir, 'ledger.jsonl'), `${JSON.stringify(line)}\n`);
}

/** True for the one process that takes the order away. */
function isOrdered(order) {
  try {
    rmSync(join(dir, order));
    return true;
  } catch {
    return false;
  }
}

async function op(ctx) {
  const run = randomUUID();
  write('start', ctx, run, { operation: ctx.operation.name, isResumed: ctx.isResumed });
  if (ctx.operation.name.endsWith('.configure')) (await ctx.instance()).runtimeProperties.configured = run;
  await sleep(Math.random() < 0.1 ? 1_000 + 1_500 * Math.random() : 40 + 160 * Math.random());
  write('end', ctx, run);
  if (isOrdered('die-before-report')) process.kill(process.pid, 'SIGKILL');
  return run;
}

exports.handlers = { 'ledger.op': op, 'ledger.save': op };
