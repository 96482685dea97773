import { patientReaper, REAP_GRACE_MS } from './lease-reaper';

function setUp() {
  const at = { now: 100_000, isDown: false, reaped: 0 };
  const answer = async (): Promise<void> => {
    if (at.isDown) throw new Error('the database does not answer');
  };
  const tick = patientReaper({
    reap: async () => {
      await answer();
      return { runs: ++at.reaped };
    },
    ping: answer,
    now: () => at.now,
  });
  /** Ticks once a second for `ms`; returns how often leases were reaped. */
  const look = async (ms: number): Promise<number> => {
    const before = at.reaped;
    for (const end = at.now + ms; at.now < end; at.now += 1_000) await tick().catch(() => undefined);
    return at.reaped - before;
  };
  return { at, look };
}

test('a process that has just started lets workers be heard before it takes leases away', async () => {
  const { look } = setUp();
  expect(await look(REAP_GRACE_MS)).toBe(0);
  expect(await look(3_000)).toBe(3);
});

test('so does one that was frozen, or whose database was away', async () => {
  const { at, look } = setUp();
  await look(REAP_GRACE_MS + 1_000);
  at.now += 20_000;
  expect(await look(REAP_GRACE_MS)).toBe(0);
  expect(await look(1_000)).toBe(1);
  at.isDown = true;
  await look(20_000);
  at.isDown = false;
  expect(await look(REAP_GRACE_MS)).toBe(0);
  expect(await look(1_000)).toBe(1);
});

test('a short hiccup costs no time', async () => {
  const { at, look } = setUp();
  await look(REAP_GRACE_MS + 1_000);
  at.isDown = true;
  await look(3_000);
  at.isDown = false;
  expect(await look(2_000)).toBe(2);
});
