import { silentLog, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { startLeases } from './claim/leases';
import { sampleLease } from './testing/sample-lease';
import { createWorker, type WorkerDeps } from './worker';

test('workflow code that outlived its lease gives no place back: it had none', async () => {
  let now = 100_000;
  const never = () => Promise.reject(new Error('nothing is asked'));
  let end!: (result: null) => void;
  const code = () => new Promise<null>((resolve) => (end = resolve));
  const { leaseDeps } = createWorker({
    slots: 1,
    // Without its lease, the worker neither reports nor requests anything.
    executions: {} as WorkerDeps['executions'],
    host: {
      folders: { of: () => ({ open: never, locate: never, settle: never }), locateShared: never },
    } as unknown as WorkerDeps['host'],
    runtime: {
      operations: new Map(),
      workflows: new Map([['code.run', code]]),
      scripts: {} as WorkerDeps['runtime']['scripts'],
    },
    clock: { ...systemClock, monotonic: () => now },
    log: silentLog,
    logLimit: 10,
  });
  startLeases(
    leaseDeps,
    [sampleLease({ mapping: 'code.run', isWorkflowCode: true })],
    { places: 0, tenant: '' },
    now,
  );
  await eventually(() => expect(end).toBeDefined());
  now += 60_000;
  end(null);
  await eventually(() => expect(leaseDeps.tasks.size).toBe(0));
  expect(leaseDeps.slots.free).toBe(1);
});
