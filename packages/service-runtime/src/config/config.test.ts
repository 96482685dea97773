import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ConfigError,
  describeConfig,
  envValue,
  loadConfig,
  misspeltVariables,
  productVersion,
  runtimeConfig,
} from '..';

const schema = runtimeConfig.extend({
  BATON_LEASE: envValue.durationMs().prefault('15s').describe('Length of a lease'),
});
const key = { BATON_INTERNAL_KEY: 'sixteen characters' };

test('defaults, conversions and secrets that do not print', () => {
  const config = loadConfig(schema, {
    ...key,
    BATON_HTTP_PORT: '9000',
    BATON_VALIDATE_RESPONSES: 'TRUE',
    BATON_WIRE: '',
  });
  expect(config).toMatchObject({
    BATON_HTTP_PORT: 9000,
    BATON_VALIDATE_RESPONSES: true,
    BATON_WIRE: 'spec',
    BATON_LEASE: 15_000,
    BATON_DRAIN: 10_000,
  });
  expect(config.BATON_INTERNAL_KEY.expose()).toBe('sixteen characters');
  expect(JSON.stringify(config)).not.toContain('sixteen');
  expect(Object.isFrozen(config)).toBe(true);
});

test('all problems are reported together, with the probable misspelling', () => {
  const load = () =>
    loadConfig(schema, {
      BATON_INTERNAL_KYE: 'sixteen characters',
      BATON_WIRE: 'both',
      BATON_HTTP_PORT: '70000',
      BATON_LEASE: 'soon',
    });
  expect(load).toThrow(ConfigError);
  try {
    load();
  } catch (error) {
    expect((error as ConfigError).problems.sort()).toEqual([
      expect.stringMatching(/^BATON_HTTP_PORT: must be from 0 to 65535/),
      'BATON_INTERNAL_KEY is missing (is BATON_INTERNAL_KYE a misspelling of it?)',
      expect.stringMatching(/^BATON_LEASE: must be a duration/),
      expect.stringMatching(/^BATON_WIRE: .*spec/),
    ]);
  }
});

test('a misspelt variable is found, a variable of another service is not', () => {
  expect(misspeltVariables(schema, { BATON_LOGLEVEL: 'x', BATON_WORKER_HANDLERS: 'y', HOME: '/' })).toEqual([
    { name: 'BATON_LOGLEVEL', nearest: 'BATON_LOG_LEVEL' },
  ]);
});

test('every variable is documented', () => {
  const rows = describeConfig(schema);
  expect(rows.filter((row) => row.doc === '')).toEqual([]);
  expect(rows.find((r) => r.name === 'BATON_LEASE')).toEqual({
    name: 'BATON_LEASE',
    isRequired: false,
    default: '15s',
    doc: 'Length of a lease',
  });
  expect(rows.find((r) => r.name === 'BATON_INTERNAL_KEY')).toMatchObject({
    isRequired: true,
    default: null,
  });
});

test('the version is that of the product', () => {
  expect(JSON.parse(readFileSync(join(__dirname, '../../../../package.json'), 'utf8')).version).toBe(
    productVersion,
  );
});
