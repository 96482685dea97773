// A worker's credential is revoked while it runs an operation: executions refuses it immediately, the operation goes to another
// worker, the change is in the audit log, and only an administrator may revoke.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf } from './caller';

jest.setTimeout(300_000);
const DEADLINE = { deadlineMs: 120_000 };
const folder = mkdtempSync(join(tmpdir(), 'baton-gate-'));
const gate = join(folder, 'open');
const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  n:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: |
            #!/bin/bash
            while [ ! -e ${gate} ]; do sleep 0.2; done
`;

interface Worker {
  id: string;
  held: number;
  is_alive: boolean;
  revoked_at: string | null;
}

let fleet: Fleet;
let caller: Caller;
beforeAll(async () => {
  // The operations read a file of the test, so isolation must be off.
  fleet = await startFleet({ mode: 'services', workers: 2, env: { BATON_WORKER_ISOLATION: 'none' } });
  caller = callerOf(fleet);
}, 120_000);
afterAll(async () => {
  await fleet?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const workers = async (): Promise<Worker[]> => (await caller.must(caller.admin, 'GET', '/workers')).items;
const logOf = (name: string) => readFileSync(join(fleet.dir, 'logs', `${name}.log`), 'utf8');

async function holder(): Promise<Worker> {
  const [found, ...more] = (await workers()).filter((worker) => worker.held > 0);
  expect(more).toEqual([]);
  if (!found) throw new Error('nobody holds the operation yet');
  return found;
}

test('what a revoked worker runs goes to another one, and it gets nothing more', async () => {
  const { admin } = caller;
  await eventually(
    async () => expect((await workers()).filter((one) => one.is_alive)).toHaveLength(2),
    DEADLINE,
  );
  await caller.must(admin, 'PUT', '/blueprints/b', undefined, tgz({ 'blueprint.yaml': BLUEPRINT }));
  await caller.must(admin, 'PUT', '/deployments/d', { blueprint_id: 'b' });
  const { id } = await caller.must(admin, 'POST', '/executions', {
    deployment_id: 'd',
    workflow_id: 'install',
  });
  const first = await eventually(holder, DEADLINE);

  // Neither a user nor a manager of the tenant may revoke; the call of the administrator below shows that the route works.
  for (const role of ['user', 'manager']) {
    const who = await caller.user(`a-${role}`, 'default_tenant', role);
    expect((await caller.send(who, 'GET', '/workers')).status).toBe(403);
    expect((await caller.send(who, 'POST', `/workers/${first.id}/revoke`)).status).toBe(403);
  }
  expect((await caller.send(admin, 'POST', '/workers/nobody/revoke')).status).toBe(404);
  const revoked = await caller.must(admin, 'POST', `/workers/${first.id}/revoke`);
  expect(revoked).toMatchObject({ id: first.id, is_alive: false, revoked_at: expect.any(String) });

  const second = await eventually(async () => {
    const found = await holder();
    expect(found.id).not.toBe(first.id);
    return found;
  }, DEADLINE);
  // A repeated call changes nothing.
  const again = await caller.must(admin, 'POST', `/workers/${first.id}/revoke`);
  expect(again.revoked_at).toBe(revoked.revoked_at);
  writeFileSync(gate, '');
  await eventually(async () => {
    const { status } = await caller.must(admin, 'GET', `/executions/${id}`);
    expect(status).toBe('terminated');
  }, DEADLINE);
  expect((await workers()).find((worker) => worker.id === second.id)).toMatchObject({ revoked_at: null });
  // The worker's process ends and takes no more messages; the other worker continues.
  await eventually(() => {
    const ended = fleet.workers().filter((worker) => worker.unexpectedEnd() !== null);
    expect(ended.map((worker) => worker.unexpectedEnd())).toEqual([expect.stringContaining('status 1')]);
    expect(logOf(ended[0]!.name)).toContain('this worker was revoked; it ends');
  }, DEADLINE);
  const next = await caller.must(admin, 'POST', '/executions', {
    deployment_id: 'd',
    workflow_id: 'uninstall',
  });
  await eventually(async () => {
    const { status } = await caller.must(admin, 'GET', `/executions/${next.id}`);
    expect(status).toBe('terminated');
  }, DEADLINE);
});

test('who did it is in the audit log, once each time', async () => {
  await eventually(async () => {
    const { items } = await caller.must(caller.admin, 'GET', '/audit?size=0');
    const rows = items.filter((row: { ref_table: string }) => row.ref_table === 'workers');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows[0]).toMatchObject({ operation: 'update', creator_name: 'admin' });
  }, DEADLINE);
});
