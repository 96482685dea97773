import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installExitCodes } from './exit-codes';
import { placeName } from './names';
import { readInstallChoices } from './options';
import { renderInstallScript } from './render';

const script = renderInstallScript({
  name: 'host_1',
  tenant: 't',
  nodeInstanceId: 'host_1',
  addresses: ['https://10.0.0.1'],
  token: 'token',
  authorities: '-----BEGIN CERTIFICATE-----',
  packages: [],
});

it('every exit code of the script has a meaning, here and in the docs', () => {
  const used = [...script.matchAll(/\b(?:fail|exit) (\d+)\b/g)].map(([, code]) => Number(code));
  const known = Object.keys(installExitCodes).map(Number);
  // 0, the child's own codes and the signals are no failures of a step.
  expect([...new Set(used)].filter((code) => ![0, 1, 130, 143].includes(code)).sort((a, b) => a - b)).toEqual(
    known,
  );
  const docs = readFileSync(join(__dirname, '../../../../docs/agents-install.md'), 'utf8');
  const rows = [...docs.matchAll(/^\| (\d+) \| (.*?) \|/gm)].map(([, code, text]) => [code, text]);
  expect(Object.fromEntries(rows)).toEqual(installExitCodes);
});

it('names the value from which no script can be made', () => {
  const refused: [Record<string, unknown>, string][] = [
    [{ basedir: 'relative' }, 'agent_config.basedir'],
    [{ extra: { basedir: '/a b"$(id)' } }, 'agent_config.basedir'],
    [{ user: '-rf' }, 'agent_config.user'],
    [{ process_management: { name: 'nssm' } }, 'agent_config.process_management'],
    [{ env: { 'A B': '1' } }, 'agent_config.env'],
    [{ package_url: 'ftp://x' }, 'agent_config.package_url'],
  ];
  for (const [config, field] of refused)
    expect(() => readInstallChoices(config)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(field) }),
    );
  expect(() => renderInstallScript({ ...options(), token: "a'; id" })).toThrow(
    expect.objectContaining({ code: 'bad_parameters_error' }),
  );
  expect(() => renderInstallScript({ ...options(), addresses: ['https://a/$(id)'] })).toThrow(
    expect.objectContaining({ code: 'bad_parameters_error' }),
  );
});

const options = () => ({
  name: 'x',
  tenant: 't',
  nodeInstanceId: 'x',
  addresses: ['https://a'],
  token: 't',
  authorities: '-----BEGIN CERTIFICATE-----',
  packages: [],
});

it('reads the names of the original', () => {
  expect(
    readInstallChoices({
      user: 'centos',
      process_management: { name: 'init.d' },
      extra: { basedir: '/srv/agents' },
      key: 'unused',
      port: 22,
    }),
  ).toMatchObject({ user: 'centos', processManagement: 'auto', baseDir: '/srv/agents' });
});

it('keeps names apart that become the same place', () => {
  expect(placeName('host_1a2b')).toBe('host_1a2b');
  expect(placeName('a/b')).toMatch(/^a_b-[0-9a-f]{8}$/);
  expect(placeName('a/b')).not.toBe(placeName('a:b'));
  expect(placeName('../../etc')).not.toContain('/');
  expect(placeName('.hidden')).not.toMatch(/^\./);
});
