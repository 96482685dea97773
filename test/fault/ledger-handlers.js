// Operations that write down in a file outside of the system when they begin and end (BATON_WORKER_HANDLERS).
// They are rude: told to stop, they go on to the end, as a program on another machine would.
const { randomUUID } = require('node:crypto');
const { appendFileSync, existsSync, rmSync } = require('node:fs');
const { join } = require('node:path');

const dir = process.env.FAULT_DIR;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Right also in a process whose clock is shifted (clock-shift.js). */
const now = () => Math.round(performance.timeOrigin + performance.now());

function write(phase, ctx, run, more) {
  const line = {
    t: now(),
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
  if (!existsSync(join(dir, order))) return false;
  try {
    rmSync(join(dir, order));
    return true;
  } catch {
    return false;
  }
}

/** Until the heap's limit ends the process. */
function exhaustMemory() {
  const hog = [];
  for (;;) hog.push(new Array(1_000_000).fill(hog.length));
}

async function run(ctx, ms) {
  const id = randomUUID();
  write('start', ctx, id, { operation: ctx.operation.name, isResumed: ctx.isResumed });
  if (isOrdered('exhaust-memory')) exhaustMemory();
  if (ctx.operation.name.endsWith('.configure')) (await ctx.instance()).runtimeProperties.configured = id;
  await sleep(ms);
  write('end', ctx, id);
  if (isOrdered('die-before-report')) process.kill(process.pid, 'SIGKILL');
  return id;
}

const short = (ctx) =>
  run(ctx, Math.random() < 0.1 ? 1_000 + 1_500 * Math.random() : 40 + 160 * Math.random());
const long = (ctx) => run(ctx, 2_500 + 1_000 * Math.random());

/** Starts another deployment once and waits for its end without a worker; only the look that finds it is a run. */
const child = (sdk) => async (ctx, inputs) => {
  if (inputs.child) {
    const { id: untilExecution, status } = await installOfChild(ctx, inputs);
    if (status === 'failed' || status === 'cancelled') throw new sdk.FatalError(`${inputs.child}: ${status}`);
    // Its own look would come too late for the row: the end has to wake it.
    if (status !== 'terminated')
      throw new sdk.OperationDeferred(`the install of ${inputs.child}`, { untilExecution, checkAfter: 3600 });
  }
  const id = randomUUID();
  write('start', ctx, id, { operation: ctx.operation.name });
  write('end', ctx, id);
  return id;
};

async function installOfChild(ctx, { api, child: deployment }) {
  // The same key each time: the first call starts it, the others read.
  const response = await fetch(`${api}/api/v3.1/executions`, {
    method: 'POST',
    headers: {
      'execution-token': ctx.executionToken,
      tenant: ctx.tenant,
      'content-type': 'application/json',
      'idempotency-key': `${ctx.executionId} ${deployment}`,
    },
    body: JSON.stringify({ deployment_id: deployment, workflow_id: 'install' }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${response.status}: ${answer.message}`);
  return answer;
}

exports.handlers = (sdk) => ({
  'ledger.op': sdk.resumable(short),
  'ledger.save': sdk.resumable(short),
  'ledger.long': sdk.resumable(long),
  'ledger.child': sdk.resumable(child(sdk)),
  // Never run again by itself: its effect may have happened.
  'ledger.once': long,
});
