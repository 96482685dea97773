// The systemd unit of the archive (deploy/bundle/baton.service), by systemd's own tool. `npm run doors` plays its start and its stop.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = join(__dirname, '../../deploy/bundle');
const template = readFileSync(join(folder, 'baton.service'), 'utf8');
let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'baton-unit-'));
  mkdirSync(join(home, 'current/bin'), { recursive: true });
  const program = join(home, 'current/bin/baton-standalone');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);
});
afterAll(() => rmSync(home, { recursive: true }));

/** Writes the unit as install.sh fills it in, and returns its path. */
function unit(change = (text: string) => text): string {
  const values: Record<string, string> = {
    PREFIX: home,
    DATA: join(home, 'data'),
    WORK: join(home, 'data-work'),
    PORT: '8080',
    SETTINGS: join(home, 'settings.env'),
    TARGET: 'multi-user.target',
    USER: 'User=daemon',
  };
  const file = join(home, 'baton.service');
  writeFileSync(
    file,
    change(template).replace(/@([A-Z]+)@/g, (_all, name: string) => values[name]!),
  );
  return file;
}
function analyze(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  if (error) throw error;
  return { status, said: `${stdout}${stderr}` };
}

test('the installer fills in every place of the unit', () => {
  const places = (text: string) => [...new Set(text.match(/@[A-Z]+@/g))].sort();
  expect(places(readFileSync(join(folder, 'install.sh'), 'utf8'))).toEqual(places(template));
});

test('systemd takes the unit without a complaint, and notices a wrong one', () => {
  expect(analyze('verify', unit())).toEqual({ status: 0, said: '' });
  const misspelt = analyze(
    'verify',
    unit((text) => text.replace('TimeoutStopSec', 'TimeoutStopSecs')),
  );
  expect(misspelt.said).toMatch(/Unknown key (name )?.TimeoutStopSecs./);
  const absent = analyze(
    'verify',
    unit((text) => text.replace('baton-standalone', 'baton-nothing')),
  );
  expect(absent.status).not.toBe(0);
});

/** Exposure that systemd computes, times ten: what operations need (namespaces, their own /proc) stays open. */
const MOST_EXPOSED = 51;

test('what the unit may do does not grow', () => {
  const judged = (file: string) =>
    analyze('security', '--offline=true', `--threshold=${MOST_EXPOSED}`, '--no-pager', file).status;
  expect(judged(unit())).toBe(0);
  expect(
    judged(unit((text) => text.replace('ProtectSystem=strict', '').replace('PrivateTmp=yes', ''))),
  ).not.toBe(0);
});

test('a wrong setting does not start again and again, and a stop waits longer than the manager needs', () => {
  expect(template).toMatch(/^RestartPreventExitStatus=78$/m);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(template)![1])).toBeGreaterThanOrEqual(60);
});
