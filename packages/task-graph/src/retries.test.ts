import { broken, drive } from './testing/driver';
import { fixture, inputOf } from './testing/fixture';

/** An operation's own retries against those of the manager (reference/workflows.md 2.4). */

test.each([
  ['none, whatever the manager says', { max_retries: 0 }, { taskRetries: 60 }, 1],
  ['none, also against retries without end', { max_retries: 0 }, { taskRetries: -1 }, 1],
  ['as many as it says', { max_retries: 2 }, { taskRetries: 0 }, 3],
  ['those of the manager when it says nothing', { max_retries: null }, { taskRetries: 1 }, 2],
])('an operation that always fails is tried again: %s', (_, own, config, calls) => {
  const model = fixture({ a: { ops: ['create'], over: { create: own } } });
  const record = drive('install', inputOf('install', model, {}, config), { run: () => broken(true) });
  expect([record.outcome, record.calls.length]).toEqual(['failed', calls]);
});

test('an operation waits for its own interval', () => {
  const over = { create: { max_retries: 1, retry_interval: 1 } };
  const model = fixture({ a: { ops: ['create'], over } });
  const record = drive('install', inputOf('install', model, {}, { taskRetryIntervalMs: 1_000_000 }), {
    run: () => broken(true),
  });
  const [first, second] = record.calls;
  expect(second!.from - first!.to).toBe(1_000);
});
