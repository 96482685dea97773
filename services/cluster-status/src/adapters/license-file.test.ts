import { readLicense } from './license-file';

const content = {
  customer_id: 'c',
  expiration_date: null,
  license_edition: 'Premium',
  trial: false,
  cloudify_version: '2.1',
  capabilities: null,
};
const read = (change: object, managerVersion = '2.1.7') =>
  readLicense(JSON.stringify({ license: { ...content, ...change } }), { key: null, managerVersion });
const refused = (change: object, managerVersion?: string) => {
  const result = read(change, managerVersion);
  return result.ok ? null : [result.error.code, result.error.details.field];
};

test('without a key neither a signature nor its absence matters', () => {
  expect(read({})).toEqual({
    ok: true,
    value: {
      customerId: 'c',
      expiration: null,
      edition: 'Premium',
      isTrial: false,
      maxVersion: '2.1',
      capabilities: null,
    },
  });
});

test.each([
  ['2.1', '2.1.7', true],
  ['2.1.6', '2.1.7', false],
  ['2.0.9', '2.1.0', false],
  ['3', '2.9.9', true],
  ['2.1.0', '2.1.0-rc.1', true],
  ['latest', '2.1.0', false],
])('a license up to %s on a manager %s: %s', (version, manager, isTaken) => {
  const expected = isTaken ? null : ['unverified_cloudify_license', 'license.cloudify_version'];
  expect(refused({ cloudify_version: version }, manager)).toEqual(expected);
});

test.each([
  ['12/31/2030', { date: '2030-12-31T00:00:00.000Z' }],
  ['30 days', { days: 30 }],
  ['1 day', { days: 1 }],
])('expiration %s', (text, expiration) => {
  expect(read({ expiration_date: text })).toMatchObject({ value: { expiration } });
});

test.each(['02/30/2030', '31/12/2030', '2030-12-31', 'soon', '-3 days'])('no expiration: %s', (text) => {
  expect(refused({ expiration_date: text })).toEqual([
    'unverified_cloudify_license',
    'license.expiration_date',
  ]);
});

test('says which key is missing', () => {
  expect(refused({ trial: undefined })).toEqual(['unverified_cloudify_license', 'license.trial']);
  const empty = readLicense('{}', { key: null, managerVersion: '1' });
  expect(!empty.ok && empty.error.details.field).toBe('license');
});

test.each(['just text', '', 'a: [b', 'a: &x [1]\nb: *y'])('no YAML mapping: %j', (text) => {
  const result = readLicense(text, { key: null, managerVersion: '1' });
  expect(!result.ok && result.error.code).toBe('invalid_yaml_format');
});
