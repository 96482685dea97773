import { readAuditSearch, streamQuery, subjectOf } from './audit-search';

const at = '2026-01-01T00:00:00.000Z';

test('one end of a stretch of time is kept', () => {
  expect(readAuditSearch({ since: at, before: at })).toMatchObject({ since: at, before: undefined });
  expect(readAuditSearch({ since: 'yesterday', before: at })).toMatchObject({ since: undefined, before: at });
});

test('the stream takes no times', () =>
  expect(streamQuery({ creator_name: 'vera', since: at })).toEqual({
    creator_name: 'vera',
    execution_id: undefined,
  }));

test.each([
  ['17', { id: 'web', tenant: 't' }, 'web'],
  ['17', { tenant: 't' }, '17'],
  ['17', { id: '', username: 'vera' }, '17'],
  ['', { username: 'vera', tenant_name: 'shops' }, 'vera, shops'],
  ['', { tenant: 't' }, ''],
])('%j with %j is about %j', (ref_id, ref_identifier, subject) =>
  expect(subjectOf({ ref_id, ref_identifier })).toBe(subject),
);
