// A snapshot holds the files of node instances: their rows, and their content in the blob store.
import { eventually } from '@baton/testkit/eventually';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf } from '../security/caller';

const BLUEPRINT = tgz({
  'blueprint.yaml': `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  n: {type: cloudify.nodes.Root}
`,
});
let fleet: Fleet;
let caller: Caller;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'services', workers: 1 });
  caller = callerOf(fleet);
}, 120_000);
afterAll(() => fleet?.stop(), 60_000);

const must = (method: string, path: string, body?: unknown, content?: Buffer) =>
  caller.must(caller.admin, method, path, body, content);
const ended = (id: string) =>
  eventually(
    async () => {
      const answer = await caller.send(caller.admin, 'GET', `/executions/${id}`);
      return answer.status === 200 && answer.body.status === 'terminated';
    },
    { deadlineMs: 50_000, everyMs: 50 },
  );

test('a restore brings files back as they were, and releases their locks', async () => {
  await must('PUT', '/blueprints/b', undefined, BLUEPRINT);
  await must('PUT', '/deployments/d', { blueprint_id: 'b' });
  const { items } = await must('GET', '/node-instances?deployment_id=d');
  const file = `/node-instances/${items[0].id}/files/state`;
  await must('PUT', file, undefined, Buffer.from('as it was'));
  await must('PUT', `${file}/lock`, { lock_id: 'x', holder: 'an update', seconds: 3600 });
  await ended((await must('PUT', '/snapshots/s1', {})).id);
  await must('PUT', `${file}?lock_id=x`, undefined, Buffer.from('later'));
  await ended((await must('POST', '/snapshots/s1/restore', { force: true })).id);
  const { text } = await caller.send(caller.admin, 'GET', file);
  expect(text).toBe('as it was');
  expect((await must('GET', file.replace(/\/state$/, ''))).items[0].lock).toBeNull();
}, 120_000);
