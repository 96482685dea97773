import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceLoginMachine, tokenDescription } from './device-login';

test('the table has the states of the machine', () => {
  const migration = readFileSync(join(__dirname, '../../../migrations/0274_device_logins.sql'), 'utf8');
  const check = /check \(state in \(([^)]+)\)\)/.exec(migration)![1]!;
  expect(check.split(', ').map((state) => state.slice(1, -1))).toEqual(deviceLoginMachine.states);
});

test('what is decided stays', () => {
  for (const state of ['approved', 'denied'] as const)
    expect([deviceLoginMachine.next(state, 'approved'), deviceLoginMachine.next(state, 'denied')]).toEqual([
      null,
      null,
    ]);
});

test('a token says which program it is of, from where and since when', () => {
  expect(tokenDescription('baton on laptop', '192.0.2.7', '2026-11-26T23:59:58.123Z')).toBe(
    'device login: baton on laptop, from 192.0.2.7, 2026-11-26 23:59 UTC',
  );
  expect(tokenDescription('x', '', '2026-11-26T23:59:58.123Z')).toContain('from an unknown address');
});
