import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { executionsRpc } from '@baton/contracts';
import { isRunning } from '@baton/plugin-runtime/testing';
import { eventually } from '@baton/testkit/eventually';
import { startProcess } from './testing/agent-process';
import { type AgentRig, createAgentRig } from './testing/agent-rig';

const { OutcomeKind } = executionsRpc;
let rig: AgentRig;
const started: { child: { kill(signal: NodeJS.Signals): boolean } }[] = [];

beforeEach(async () => {
  rig = await createAgentRig();
});
afterEach(async () => {
  for (const { child } of started.splice(0)) child.kill('SIGKILL');
  await rig.close();
});

const run = (...args: string[]) => {
  const agent = startProcess([...args, '--dir', rig.places.dir]);
  started.push(agent);
  return agent;
};
const line = (text: string): Promise<string> =>
  eventually(async () => {
    const found = rig.engine.events.find(({ message }) => message.includes(text));
    if (!found) throw new Error(`no line with ${text}`);
    return found.message;
  });
const outcomes = (task: { outcomes: unknown[] }, count = 1): Promise<void> =>
  eventually(async () => expect(task.outcomes.length).toBeGreaterThanOrEqual(count));

test('an agent that is killed reports what ran as left, after its processes were killed, and runs it no second time', async () => {
  const task = rig.engine.script('#!/bin/bash\necho "pid $$"\nsleep 300\n');
  const first = run('run');
  const pid = Number(/pid (\d+)/.exec(await line('<out> pid'))![1]);
  first.child.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  expect(task.outcomes).toEqual([]);
  run('run');
  await outcomes(task);
  expect(task.outcomes).toMatchObject([{ kind: OutcomeKind.OUTCOME_KIND_LEFT, attempt: 1 }]);
  expect(task.outcomes[0]!.errorJson).toContain('AgentRestarted');
  expect(isRunning(pid)).toBe(false);
  expect(task.leases).toBe(1);
});

test('an outcome that the manager never took is told by the next process, with the lines', async () => {
  const gate = `${rig.places.dir}/gate`;
  const task = rig.engine.script(
    `#!/bin/bash\necho before\nwhile [ ! -e ${gate} ]; do sleep 0.05; done\necho after\nctx returns value\n`,
  );
  const first = run('run');
  await line('<out> before');
  await rig.gateway.close();
  writeFileSync(gate, '');
  const journal = `${rig.places.journal}`;
  await eventually(async () => {
    const status = startProcess(['status', '--dir', rig.places.dir]);
    await status.ended;
    expect(status.output()).toContain('reporting');
  });
  expect(statSync(journal).mode & 0o777).toBe(0o700);
  first.child.kill('SIGKILL');
  await first.ended;
  await rig.startGateway();
  run('run');
  await outcomes(task);
  expect(task.outcomes).toMatchObject([
    { kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED, resultJson: '"value"', attempt: 1 },
  ]);
  expect(rig.engine.events.filter(({ message }) => message === '<out> after')).toHaveLength(1);
});

test('SIGTERM: a running operation gets time to end, nothing more begins, and the end is told', async () => {
  const gate = `${rig.places.dir}/gate`;
  const task = rig.engine.script(`#!/bin/bash\necho begun\nwhile [ ! -e ${gate} ]; do sleep 0.05; done\n`);
  const agent = run('run');
  await line('<out> begun');
  agent.child.kill('SIGTERM');
  await eventually(async () =>
    expect(readFileSync(`${rig.places.log}/agent.log`, 'utf8')).toContain('the agent stops'),
  );
  const later = rig.engine.script('#!/bin/bash\necho later\n');
  rig.gateway.notify({ notice: 'task-ready', executionId: later.executionId, taskId: later.id });
  writeFileSync(gate, '');
  expect(await agent.ended).toBe(0);
  expect(task.outcomes).toMatchObject([{ kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED }]);
  expect(later.state).toBe('ready');
});

test('a second process of the same agent does not start, and says which runs', async () => {
  const first = run('run');
  await eventually(async () => expect(rig.gateway.hellos).toHaveLength(1));
  const second = run('run');
  expect(await second.ended).toBe(5);
  expect(second.output()).toContain(`as process ${first.child.pid}`);
});

test('commands without what they need say so by their exit codes', async () => {
  rmSync(rig.places.certificate);
  const agent = run('run');
  expect([await agent.ended, agent.output()]).toEqual([4, expect.stringContaining('baton-agent enrol')]);
  writeFileSync(rig.places.config, JSON.stringify({ name: 'a', adresses: [] }));
  const other = run('check');
  expect(await other.ended).toBe(6);
  expect(other.output()).toContain('adresses: no such setting; did you mean addresses?');
});
