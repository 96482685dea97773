import { clusterStatusRpc } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { createLocalRpc } from '@baton/rpc';
import { startHeartbeat } from './heartbeat';

type Report = clusterStatusRpc.ReportRequest;

/** A cluster-status that answers reports; `taken` resolves with the next one. */
function clusterStatus() {
  const answers: ((report: Report) => void)[] = [];
  let revision: string | undefined = 'first';
  const rpc = createLocalRpc();
  rpc.serve('cluster-status', clusterStatusRpc.ClusterStatusServiceDefinition, {
    report: async (report: Report) => {
      answers.shift()?.(report);
      return { maintenance: 'activated', configRevision: revision };
    },
  } as never);
  return {
    rpc,
    setRevision: (next: string | undefined) => {
      revision = next;
    },
    taken: () => new Promise<Report>((resolve) => void answers.push(resolve)),
  };
}

const health = { results: async () => ({ database: { ok: true, detail: '' } }) };

test('one report tells of all services of the process, at the start and when it leaves', async () => {
  const { rpc, taken } = clusterStatus();
  const first = taken();
  let ofGateway!: (state: string) => void;
  const learnedByGateway = new Promise<string>((resolve) => {
    ofGateway = resolve;
  });
  const learned: string[] = [];
  const heartbeat = startHeartbeat({
    services: [
      { service: 'identity', instanceId: 'i', health, onMaintenance: (state) => void learned.push(state) },
      { service: 'gateway', instanceId: 'g', health, onMaintenance: ofGateway, actsBy: () => 'draining' },
    ],
    rpc,
    log: silentLog,
  });
  const checksJson = JSON.stringify(await health.results());
  expect(await first).toMatchObject({
    service: 'identity',
    instanceId: 'i',
    checksJson,
    isLeaving: false,
    others: [{ service: 'gateway', instanceId: 'g', checksJson, actsBy: 'draining', pid: process.pid }],
  });
  expect(await learnedByGateway).toBe('activated');
  expect(learned).toEqual(['activated']);
  const last = taken();
  await heartbeat.stop();
  expect(await last).toMatchObject({ isLeaving: true, others: [{ service: 'gateway', isLeaving: true }] });
});

test('a service reads the configuration when it starts, when it is another one, and again when it could not', async () => {
  jest.useFakeTimers();
  try {
    const { rpc, taken, setRevision } = clusterStatus();
    let reads = 0;
    let isDown = false;
    const onConfig = async (): Promise<void> => {
      reads++;
      if (isDown) throw new Error('away');
    };
    const heartbeat = startHeartbeat({
      services: [{ service: 'executions', instanceId: 'e', health, onConfig }],
      rpc,
      log: silentLog,
    });
    /** Number of reads within a minute of reports. */
    const inAMinute = async (): Promise<number> => {
      const before = reads;
      await jest.advanceTimersByTimeAsync(60_000);
      return reads - before;
    };
    expect(await inAMinute()).toBe(1);
    setRevision('second');
    expect(await inAMinute()).toBe(1);
    isDown = true;
    setRevision('third');
    expect(await inAMinute()).toBeGreaterThan(9);
    isDown = false;
    expect(await inAMinute()).toBe(1);
    // As a cluster-status of an older release answers.
    setRevision(undefined);
    expect(await inAMinute()).toBeGreaterThan(9);
    const last = taken();
    await heartbeat.stop();
    expect((await last).isLeaving).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});
