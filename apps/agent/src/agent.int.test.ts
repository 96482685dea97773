import { executionsRpc } from '@baton/contracts';
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
