import { flatConfig, settingsOf } from './agent-settings';

const GRACE = 900_000;
const defaults = {
  maxWorkers: 5,
  env: {},
  logLevel: 'info',
  logMaxBytes: 5 * 1024 * 1024,
  logMaxHistory: 7,
  disconnectGraceMs: GRACE,
  executableTempPath: null,
};

test.each([
  ['no agent_config', undefined],
  ['null', null],
  ['a list', []],
  [
    'values that nobody has evaluated',
    { max_workers: { get_input: 'x' }, env: { get_secret: 'y' }, log_level: {} },
  ],
  [
    'values without sense',
    { max_workers: 'many', log_level: 'loud', log_max_bytes: 1.5, executable_temp_path: 'tmp' },
  ],
  ['empty texts', { max_workers: '', log_max_history: ' ' }],
])('%s gives the defaults', (_name, config) => {
  const { env, ...rest } = settingsOf(config as never, GRACE);
  expect(rest).toEqual((({ env: _, ...others }) => others)(defaults));
  expect(Object.keys(env).every((name) => name === 'get_secret')).toBe(true);
});

test('takes what agent_config says, also in `extra` and as text', () => {
  const config = {
    max_workers: '12',
    env: { PATH_OF_APP: '/app', PORT: 80, ON: true },
    log_level: 'DEBUG',
    log_max_bytes: 1_000_000,
    executable_temp_path: '/var/tmp',
    extra: { log_max_history: 3 },
  };
  expect(settingsOf(config, GRACE)).toEqual({
    maxWorkers: 12,
    env: { PATH_OF_APP: '/app', PORT: '80', ON: 'true' },
    logLevel: 'debug',
    logMaxBytes: 1_000_000,
    logMaxHistory: 3,
    disconnectGraceMs: GRACE,
    executableTempPath: '/var/tmp',
  });
});

test('numbers stay in their bounds', () => {
  const least = settingsOf({ max_workers: -1, log_max_bytes: 0, log_max_history: -5 }, GRACE);
  expect([least.maxWorkers, least.logMaxBytes, least.logMaxHistory]).toEqual([1, 1024, 0]);
  const most = settingsOf({ max_workers: 1e9, log_max_bytes: 1e15, log_max_history: 1e9 }, GRACE);
  expect([most.maxWorkers, most.logMaxBytes, most.logMaxHistory]).toEqual([1_000, 1024 ** 3, 1_000]);
});

test('an environment has proper names, plain values and an end', () => {
  const { env } = settingsOf({ env: { 'A B': 'x', '1A': 'x', OK: 'y', LIST: [1], NONE: null } }, GRACE);
  expect(env).toEqual({ OK: 'y' });
  const long = settingsOf({ env: { A: 'x'.repeat(60_000), B: 'x'.repeat(10_000), C: 'c' } }, GRACE);
  expect(Object.keys(long.env)).toEqual(['A']);
  expect(settingsOf({ env: { A: 'a\0b' } }, GRACE).env).toEqual({});
});

test('a config without `extra` stays as it is', () => {
  expect(flatConfig({ user: 'u', extra: 'none' })).toEqual({ user: 'u' });
  expect(flatConfig({ user: 'u', extra: { user: 'v', basedir: '/b' } })).toEqual({
    user: 'v',
    basedir: '/b',
  });
});
