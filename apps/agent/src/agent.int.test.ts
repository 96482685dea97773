import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executionsRpc } from '@baton/contracts';
import { isRunning } from '@baton/plugin-runtime/testing';
import { eventually } from '@baton/testkit/eventually';
import { type AgentRig, createAgentRig } from './testing/agent-rig';

const { OutcomeKind } = executionsRpc;
let rig: AgentRig;

beforeEach(async () => {
  rig = await createAgentRig();
});
afterEach(() => rig.close());

const outcomesOf = (id: string): executionsRpc.TaskOutcome[] => rig.engine.tasks.get(id)!.outcomes;
const ended = (id: string): Promise<void> =>
  eventually(async () => {
    if (outcomesOf(id).length === 0) throw new Error('no outcome yet');
  });

test('an agent connects, claims a script and reports its end and its lines', async () => {
  const task = rig.engine.script('#!/bin/bash\necho "hello of $AGENT_NAME"\nctx returns done\n');
  await rig.start();
  await ended(task.id);
  expect(outcomesOf(task.id)).toMatchObject([
    { kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED, resultJson: '"done"', attempt: 1 },
  ]);
  expect(rig.engine.events.map(({ message }) => message)).toContain('<out> hello of vm_1');
  expect(rig.engine.claims[0]).toMatchObject({ isNewStream: true, room: 5, held: [] });
});

const messages = (): string[] => rig.engine.events.map(({ message }) => message);
const holds = (text: string): Promise<void> =>
  eventually(async () => {
    if (!messages().join('\n').includes(text)) throw new Error(`no line with ${text}`);
  });

test('an operation goes on through a cut, and its end and lines are told once on return', async () => {
  const gate = join(rig.places.dir, 'gate');
  const task = rig.engine.script(
    `#!/bin/bash\necho before\nwhile [ ! -e ${gate} ]; do sleep 0.05; done\nfor i in $(seq 3000); do echo "line $i"; done\n`,
  );
  const agent = await rig.start();
  await holds('<out> before');
  await rig.gateway.close();
  await eventually(async () => expect(agent.link.isOpen()).toBe(false));
  writeFileSync(gate, '');
  // Nobody takes the lines, and the script ends all the same.
  await eventually(async () => expect(agent.status().running[0]?.phase).toBe('reporting'));
  await eventually(async () => expect(agent.status().about.waitingLines).toBeGreaterThan(2_900));
  await rig.startGateway();
  await ended(task.id);
  expect(outcomesOf(task.id)).toMatchObject([{ kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED, attempt: 1 }]);
  expect(messages().filter((message) => message.startsWith('<out> line'))).toEqual(
    Array.from({ length: 3_000 }, (_, i) => `<out> line ${i + 1}`),
  );
  expect(rig.engine.claims.find(({ isNewStream, held }) => isNewStream && held.length > 0)?.held).toEqual([
    { taskId: task.id, attempt: 1 },
  ]);
  expect(task.leases).toBe(1);
});

test('an operation whose lease was in a lost answer to a report is given again soon', async () => {
  const { engine } = rig;
  const first = engine.script('#!/bin/bash\necho first\n');
  const second = engine.script('#!/bin/bash\necho second\n');
  second.state = 'ended';
  engine.lostLease = second;
  await rig.start();
  await ended(first.id);
  await ended(second.id);
  expect(second.leases).toBe(1);
});

test('a call of a script waits through a cut', async () => {
  const task = rig.engine.script(
    '#!/bin/bash\necho before\nsleep 0.5\nctx instance runtime-properties key value\nctx instance update\necho after\n',
  );
  const agent = await rig.start();
  await holds('<out> before');
  await rig.gateway.close();
  await eventually(async () => expect(agent.link.isOpen()).toBe(false));
  await rig.startGateway();
  await ended(task.id);
  expect(outcomesOf(task.id)).toMatchObject([{ kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED }]);
  expect(rig.engine.properties).toEqual({ key: 'value' });
});

test('beyond the grace without a manager an operation is stopped', async () => {
  rig.engine.leaseMs = 1_000;
  rig.gateway.settings.disconnectGraceMs = 1_000;
  const task = rig.engine.script('#!/bin/bash\necho "pid $$"\nsleep 300\n');
  const agent = await rig.start();
  await holds('<out> pid');
  const pid = Number(/pid (\d+)/.exec(messages().join('\n'))![1]);
  await rig.gateway.close();
  await eventually(async () => expect(agent.held()).toBe(0));
  await eventually(async () => expect(isRunning(pid)).toBe(false));
  await rig.startGateway();
  expect(outcomesOf(task.id)).toEqual([]);
});

test('a cancelled operation is killed when the manager says so', async () => {
  const task = rig.engine.script('#!/bin/bash\necho "pid $$"\nsleep 300\n');
  await rig.start();
  await holds('<out> pid');
  task.isCancelled = true;
  rig.gateway.notify({ notice: 'tasks-cancelled', taskIds: [task.id] });
  await ended(task.id);
  expect(outcomesOf(task.id)).toMatchObject([{ kind: OutcomeKind.OUTCOME_KIND_CANCELLED }]);
});

test('an operation that the manager has given up meanwhile is stopped, and reported to nobody', async () => {
  const task = rig.engine.script('#!/bin/bash\necho "pid $$"\nsleep 300\n');
  const agent = await rig.start();
  await holds('<out> pid');
  task.attempt = 2;
  rig.gateway.cut();
  await eventually(async () => expect(agent.held()).toBe(0));
  expect(outcomesOf(task.id)).toEqual([]);
});

test('settings change the environment of operations that start later, and more slots want another start', async () => {
  const agent = await rig.start();
  await eventually(async () => expect(agent.link.isOpen()).toBe(true));
  const settings = { ...rig.gateway.settings, env: { FLAVOUR: 'salted' } };
  rig.gateway.notify({ notice: 'settings', settings });
  await eventually(async () => expect(agent.settings().env).toEqual({ FLAVOUR: 'salted' }));
  const task = rig.engine.script('#!/bin/bash\necho "it is $FLAVOUR"\n');
  rig.gateway.notify({ notice: 'task-ready', executionId: task.executionId, taskId: task.id });
  await holds('<out> it is salted');
  await ended(task.id);
  rig.gateway.notify({ notice: 'settings', settings: { ...settings, maxWorkers: 7 } });
  expect(await agent.wantsRestart).toBe(75);
});
