import { RULES, type Rule } from './allowed';
import { createComparer } from './compare';
import { KINDS } from './kinds';

const rule = (more: Partial<Rule>): Rule => ({
  what: '*',
  path: 'a',
  when: 'any',
  reason: 'because',
  ...more,
});
const PRECIOUS = ['inputs', 'runtime_properties', 'properties', 'state', 'operations', 'parameters'];
const found = (rules: Rule[], there: unknown, here: unknown) =>
  createComparer(rules, 'recording')
    .compare('sites', 'one', there, here)
    .map(({ path, reason }) => [path, reason]);

test.each([
  ['the same in another order of members', { a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }, []],
  ['a member that only this manager tells', { a: 1 }, { a: 1, z: 1 }, []],
  ['a member that was not there, further down', { a: {} }, { a: { z: 1 } }, [['a.z', null]]],
  ['a member that is gone', { a: 1, b: 2 }, { a: 1 }, [['b', null]]],
  ['a null that became nothing', { a: { b: null } }, { a: {} }, [['a.b', null]]],
  [
    'another order of a list',
    { a: [1, 2] },
    { a: [2, 1] },
    [
      ['a.0', null],
      ['a.1', null],
    ],
  ],
  ['a longer list', { a: [1] }, { a: [1, 2] }, [['a', null]]],
  ['a number that became a text', { a: 1 }, { a: '1' }, [['a', null]]],
  ['an object that is not here', { a: 1 }, undefined, [['', null]]],
  ['an object that was not there', undefined, { a: 1 }, [['', null]]],
])('%s', (_about, there, here, expected) => {
  expect(found([], there, here)).toEqual(expected);
});

test.each([
  [{ when: 'instant' as const }, '2026-01-02 03:04:05.678', '2026-01-02T03:04:05.678Z', true],
  [{ when: 'instant' as const }, '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.679Z', false],
  [{ when: 'instant' as const }, 'soon', 'later', false],
  [{ when: 'empty' as const }, null, {}, true],
  [{ when: 'empty' as const }, '', 0, false],
  [{ when: 'empty' as const }, 'x', '', false],
  [{ when: 'same-members' as const }, [1, 2], [2, 1], true],
  [{ when: 'same-members' as const }, [1, 2], [2, 2], false],
  [{ when: 'becomes' as const, from: [true], to: false }, true, false, true],
  [{ when: 'becomes' as const, from: [true], to: false }, false, true, false],
  [{ when: 'absent' as const }, 1, null, true],
  [{ when: 'absent' as const }, 1, 2, false],
  [{ only: 'archive' as const }, 1, 2, false],
  [{ what: 'users' }, 1, 2, false],
  [{ id: 'one' }, 1, 2, true],
  [{ id: 'another' }, 1, 2, false],
])('a rule %p explains %p and %p: %p', (more, there, here, isExplained) => {
  const reasons = found([rule(more)], { a: there }, { a: here }).map(([, reason]) => reason);
  expect(reasons.length > 0 && reasons.every((reason) => reason === 'because')).toBe(isExplained);
});

test('patterns of members: within a member, and everything below', () => {
  const there = { a: { broker_ip: 1, ip: 1, deep: { er: 1 } } };
  expect(found([rule({ path: 'a.broker_*' })], there, { a: { ip: 1, deep: { er: 1 } } })).toEqual([
    ['a.broker_ip', 'because'],
  ]);
  expect(found([rule({ path: 'a.**' })], there, { a: { broker_ip: 1, ip: 1, deep: { er: 2 } } })).toEqual([
    ['a.deep', 'because'],
  ]);
});

test('labels are compared by key and value', () => {
  const label = (key: string, value: string) => ({ key, value, created_by: 'admin' });
  expect(
    found([], { labels: [label('a', '1'), label('b', '2')] }, { labels: [label('b', '2'), label('a', '3')] }),
  ).toEqual([
    ['labels.a=1', null],
    ['labels.a=3', null],
  ]);
});

test('the list of allowed differences names kinds that are compared, and says why', () => {
  const kinds = [...KINDS.map(({ what }) => what), '*', 'outputs', 'capabilities', 'events'];
  for (const one of RULES) {
    expect(kinds).toContain(one.what);
    expect(one.reason).toMatch(/^[A-Z].*\.$/);
    // Nothing explains the values that an installation consists of.
    if (one.what !== 'agents') expect(PRECIOUS).not.toContain(one.path);
  }
});
