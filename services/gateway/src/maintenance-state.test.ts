import { clusterStatusRpc } from '@baton/contracts';
import { silentLog, systemClock } from '@baton/kernel';
import { createLocalRpc } from '@baton/rpc';
import { createMaintenance } from './maintenance-state';

/** A gateway's view of a manager whose state the test sets. */
function gateway() {
  const manager = { state: 'deactivated', asked: 0 };
  const rpc = createLocalRpc();
  const report = async () => {
    manager.asked += 1;
    return { maintenance: manager.state };
  };
  rpc.serve('cluster-status', clusterStatusRpc.ClusterStatusServiceDefinition, { report } as never);
  const room = { changes: () => 0 } as never;
  const infra = { rpc, clock: systemClock, instanceId: 'g', log: silentLog };
  return { manager, maintenance: createMaintenance(infra, room) };
}

test('a request waits only while a change of the state is under way', () => {
  const { manager, maintenance } = gateway();
  expect(maintenance.settled()).toBeUndefined();
  expect(manager.asked).toBe(0);
});

test('whoever has the answer to a change meets the new state, before the change counts as over', async () => {
  const { manager, maintenance } = gateway();
  const ended = maintenance.changing();
  await maintenance.settled();
  expect(maintenance.state()).toBe('deactivated');
  manager.state = 'activated';
  await Promise.all([maintenance.settled(), maintenance.settled(), maintenance.settled()]);
  expect(maintenance.state()).toBe('activated');
  expect(manager.asked).toBe(2);
  ended();
  await maintenance.settled();
  expect(maintenance.settled()).toBeUndefined();
  expect(manager.asked).toBe(3);
});

test('while the mode waits for running work, each request asks whether that has ended', async () => {
  const { manager, maintenance } = gateway();
  maintenance.learn('activating');
  manager.state = 'activated';
  await maintenance.settled();
  expect(maintenance.state()).toBe('activated');
  expect(maintenance.settled()).toBeUndefined();
});

test('a question that was sent before the change does not count for a request after it', async () => {
  const { manager, maintenance } = gateway();
  maintenance.changing();
  const before = maintenance.settled();
  await Promise.resolve();
  await Promise.resolve();
  manager.state = 'activated';
  await maintenance.settled();
  expect(maintenance.state()).toBe('activated');
  await before;
});
