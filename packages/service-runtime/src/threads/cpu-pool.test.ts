import { CpuLimitError, type CpuPool, createCpuPool, resolveWorkerFile } from '..';

const workerFile = resolveWorkerFile(__dirname, 'testing-square.worker');
let pool: CpuPool;
beforeAll(() => {
  pool = createCpuPool({ workerFile, size: 2, timeLimitMs: 20_000, memoryLimitMb: 64, maxQueue: 8 });
});
afterAll(() => pool.close());

test('tasks run in threads, results and errors come back', async () => {
  expect(await Promise.all([1, 2, 3, 4].map((n) => pool.run({ n })))).toEqual([1, 4, 9, 16]);
  await expect(pool.run({ refuse: true })).rejects.toMatchObject({
    code: 'bad_parameters_error',
    details: { field: 'n' },
  });
  await expect(pool.run({ crash: true })).rejects.toThrow('bug');
});

test('a task over its memory ends its thread, the pool goes on', async () => {
  await expect(pool.run({ grow: true })).rejects.toMatchObject({ limit: 'memory' });
  expect(await pool.run({ n: 5 })).toBe(25);
});

test('a task over its time ends its thread, waiting tasks still run', async () => {
  const impatient = createCpuPool({ workerFile, size: 1, timeLimitMs: 4_000, memoryLimitMb: 64 });
  expect(await impatient.run({ n: 2 })).toBe(4);
  const [spin, after] = await Promise.allSettled([impatient.run({ spin: true }), impatient.run({ n: 3 })]);
  expect(spin).toMatchObject({ status: 'rejected', reason: expect.any(CpuLimitError) });
  expect(after).toEqual({ status: 'fulfilled', value: 9 });
  await impatient.close();
}, 30_000);

test('a full queue refuses', async () => {
  const results = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => pool.run({ n })));
  const refused = results.filter((r) => r.status === 'rejected');
  expect(refused.map((r) => r.reason.code)).toEqual(['too_many_requests_error', 'too_many_requests_error']);
});
