/** Control groups of the kernel that runs this suite. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from '@baton/testkit';
import { chooseIsolation, NoIsolationError } from './choose-isolation';
import { findOwnGroup, openControlGroups } from './control-groups';
import type { ControlGroupChoice, IsolationName, IsolationSettings } from './port';
import { runInside } from './probe';
import { startLaunch } from './start';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const NAME = `/baton-test-${process.pid}`;
const own = findOwnGroup();
const given = join(own?.mount ?? '', NAME);
let root: string;
const started: ChildProcess[] = [];

const settingsOf = (mode: IsolationName, controlGroup: ControlGroupChoice): IsolationSettings => ({
  mode,
  workRoot: root,
  assetsDir: join(root, 'assets'),
  uids: { first: 310_000, last: 310_100 },
  account: null,
  limits: { processes: 64, openFiles: 256, fileBytes: 1e8, memoryBytes: 2e8 },
  controlGroup,
  shared: [],
  hidden: [],
  path: PATH,
});

beforeAll(() => {
  if (process.getuid?.() !== 0 || own === null)
    throw new Error('control groups are made here: run this suite as root, with cgroup v2 mounted');
  mkdirSync(given);
});

beforeEach(() => {
  root = mkdtempSync('/var/tmp/baton-groups-');
  chmodSync(root, 0o711);
  mkdirSync(join(root, 'assets/bin'), { recursive: true });
  writeFileSync(join(root, 'assets/bin/ctx'), '');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

afterAll(async () => {
  for (const child of started) if (child.exitCode === null) child.kill('SIGKILL');
  await eventually(() => {
    for (const name of readdirSync(given)) if (name.startsWith('operations-')) emptied(join(given, name));
    rmdirSync(given);
  });
});

function emptied(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) rmdirSync(join(folder, entry.name));
  rmdirSync(folder);
}

const shell = (text: string) => () => ({ program: '/bin/sh', args: ['-c', text] });

describe.each<IsolationName>(['bubblewrap', 'uid'])('an operation started by %s', (mode) => {
  test('runs in a group of its own, with each of its processes, which is gone afterwards', () => {
    const settings = settingsOf(mode, NAME as ControlGroupChoice);
    const { isolation, groups } = chooseIsolation(settings);
    const end = runInside(
      isolation,
      settings,
      shell('cat /proc/self/cgroup; (setsid cat /proc/self/cgroup); ls -l /proc/self/fd'),
    );
    const seen = end.stdout.match(/^0::.*$/gm) ?? [];
    expect(seen).toHaveLength(2);
    for (const line of seen) expect(line).toMatch(new RegExp(`${NAME}/operations-${process.pid}/\\d+$`));
    expect(end.stdout).not.toContain('cgroup.procs');
    const folder = join(given, `operations-${process.pid}`);
    expect(readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())).toEqual([]);
    groups.close();
    expect(existsSync(folder)).toBe(false);
  });

  test('is bounded as a whole in whatever the machine has controllers for, and says what it has not', () => {
    const settings = settingsOf(mode, NAME as ControlGroupChoice);
    const { isolation, groups } = chooseIsolation(settings);
    const said = isolation.description.includes('a control group for each operation');
    expect(said).toBe(groups.controllers.length > 0);
    expect(isolation.notEnforced.some((text) => text.includes('memory'))).toBe(
      !groups.controllers.includes('memory'),
    );
    const { group } = isolation.launch(
      { program: '/bin/true', args: [], cwd: '/', env: { PATH } },
      { tenant: 'one', tmp: root, writable: [root], readable: [] },
    );
    const limitOf = (file: string): string => {
      const path = join(dirname(group!.procs), file);
      return existsSync(path) ? readFileSync(path, 'utf8').trim() : 'none';
    };
    expect(limitOf('pids.max')).toBe(groups.controllers.includes('pids') ? '64' : 'none');
    expect(limitOf('memory.max')).toMatch(groups.controllers.includes('memory') ? /^1999\d{5}$/ : /^none$/);
    group!.end();
    groups.close();
  });
});

test('processes that have left group and session end when their operation is killed', async () => {
  const settings = settingsOf('uid', NAME as ControlGroupChoice);
  const { isolation, groups } = chooseIsolation(settings);
  const tmp = join(root, 'tmp');
  mkdirSync(tmp, { mode: 0o777 });
  const launch = isolation.launch(
    {
      program: '/bin/sh',
      args: ['-c', 'setsid sh -c "setsid sleep 300 &" ; sleep 300'],
      cwd: '/',
      env: { PATH },
    },
    { tenant: 'one', tmp, writable: [root], readable: [] },
  );
  const group = launch.group!;
  started.push(startLaunch(launch, ['ignore', 'ignore', 'ignore']));
  const members = () => readFileSync(group.procs, 'utf8').split('\n').filter(Boolean);
  await eventually(() => expect(members().length).toBeGreaterThanOrEqual(2));
  group.kill();
  await eventually(() => expect(members()).toEqual([]));
  group.end();
  expect(existsSync(group.procs)).toBe(false);
  groups.close();
});

test('a worker that starts removes what a dead one has left', () => {
  const ended = spawnSync('/bin/sh', ['-c', 'echo $$']).stdout.toString().trim();
  const left = join(given, `operations-${ended}`);
  mkdirSync(join(left, '7'), { recursive: true });
  openControlGroups(NAME as ControlGroupChoice, settingsOf('uid', 'none').limits, true).close();
  expect(existsSync(left)).toBe(false);
});

test('root must name the group; one that cannot be used is said in a sentence', () => {
  const { limits } = settingsOf('uid', 'none');
  expect(openControlGroups('auto', limits, true).open()).toBeNull();
  expect(() => chooseIsolation(settingsOf('uid', '/not/there'))).toThrow(NoIsolationError);
  expect(() => chooseIsolation(settingsOf('uid', '/not/there'))).toThrow(/\/not\/there.*BATON_WORKER_CGROUP/);
});

test.each([
  ['the root of all groups', '/', '0::/system.slice/baton.service', '/system.slice/baton.service'],
  ['a part of it', '/docker/abc', '0::/docker/abc/baton', '/baton'],
])('the own group is found where the mount shows %s', (_name, shown, cgroup, path) => {
  const mountInfo = `31 24 0:27 ${shown} /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate`;
  expect(findOwnGroup(mountInfo, cgroup)).toEqual({
    mount: '/sys/fs/cgroup',
    path: `/sys/fs/cgroup${path}`,
  });
});
