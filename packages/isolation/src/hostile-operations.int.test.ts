/** Row S17: attempts of a hostile operation. Each has a control: the same attempt succeeds without isolation. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '@baton/testkit';
import { chooseIsolation } from './choose-isolation';
import { noIsolation } from './none';
import type { Isolation, IsolationName, IsolationSettings } from './port';
import { findProgram, runInside } from './probe';

const MB = 1_000_000;
const PATH = '/usr/local/bin:/usr/bin:/bin';
const NOBODY = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

interface Way {
  how: string;
  mode: IsolationName;
  /** One account for all tenants; the attacked operations run under the same account. */
  account: typeof NOBODY | null;
  /** Whether other accounts can pass through to the worker's folder. */
  isOpen: boolean;
  description: RegExp;
  /** Its processes run in their own pid namespace. */
  hasOwnProcesses: boolean;
}

/** For the kernel, an ordinary user's worker and root's worker that starts bwrap as that user are the same. */
const WAYS: Way[] = [
  {
    how: 'root with bubblewrap',
    mode: 'bubblewrap',
    account: null,
    isOpen: true,
    description: /user namespaces/,
    hasOwnProcesses: true,
  },
  {
    how: 'root with bubblewrap and a closed folder',
    mode: 'bubblewrap',
    account: null,
    isOpen: false,
    description: /started by root/,
    hasOwnProcesses: true,
  },
  {
    how: 'an ordinary user, against processes and files of the same user',
    mode: 'bubblewrap',
    account: NOBODY,
    isOpen: true,
    description: /user namespaces/,
    hasOwnProcesses: true,
  },
  {
    how: 'root with util-linux alone',
    mode: 'uid',
    account: null,
    isOpen: true,
    description: /setpriv/,
    hasOwnProcesses: false,
  },
];

describe.each(WAYS)('a hostile operation, started by $how', (way) => {
  beforeAll(() => {
    if (!isRoot) throw new Error('operations are started as other users here: run this suite as root');
  });
  const planted = `planted-${process.pid}-${WAYS.indexOf(way)}`;
  let root: string;
  let settings: IsolationSettings;
  let isolation: Isolation;
  let victims: ChildProcess[] = [];
  let secretFile: string;

  const startVictim = (): ChildProcess => {
    const victim = spawn('/bin/sleep', ['600'], {
      env: { BATON_INTERNAL_KEY: planted },
      cwd: '/',
      stdio: 'ignore',
      ...(way.account ?? {}),
    });
    victims.push(victim);
    return victim;
  };
  const inside = (script: string) =>
    runInside(isolation, settings, (folder) => ({ program: '/bin/sh', args: ['-c', script, folder] }));
  const outside = (script: string) =>
    runInside(noIsolation(way.account), settings, (folder) => ({
      program: '/bin/sh',
      args: ['-c', script, folder],
    }));

  beforeAll(() => {
    root = mkdtempSync(join(way.mode === 'uid' ? '/var/lib' : tmpdir(), 'baton-hostile-'));
    if (way.isOpen) chmodSync(root, 0o711);
    settings = {
      mode: way.mode,
      workRoot: join(root, 'work'),
      assetsDir: join(root, 'assets'),
      uids: { first: 350_000, last: 350_100 },
      account: way.account,
      limits: { processes: 50, openFiles: 64, fileBytes: 10 * MB, memoryBytes: 100 * MB },
      shared: [],
      hidden: [],
      path: PATH,
    };
    mkdirSync(join(settings.assetsDir, 'bin'), { recursive: true });
    writeFileSync(join(settings.assetsDir, 'bin/ctx'), '');
    isolation = chooseIsolation(settings).isolation;
    secretFile = join(settings.workRoot, 'copies/1/other_tenant/dep/secret');
    mkdirSync(dirname(secretFile), { recursive: true });
    writeFileSync(secretFile, planted, { mode: 0o600 });
    if (way.account) chownSync(secretFile, way.account.uid, way.account.gid);
  }, 60_000);
  afterAll(() => {
    for (const victim of victims) victim.kill('SIGKILL');
    victims = [];
    rmSync(root, { recursive: true, force: true });
  });

  it('is kept apart as promised', () => {
    expect(isolation).toMatchObject({ name: way.mode, description: expect.stringMatching(way.description) });
  });

  it('has a name, which ssh and other programs ask for', () => {
    expect(inside('id -un')).toMatchObject({
      isFine: true,
      stdout: way.account ? 'nobody\n' : 'baton-operation\n',
    });
  });

  it('finds no environment of another process, nor its memory', () => {
    const { pid } = startVictim();
    const dump =
      'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -a "^BATON_INTERNAL_KEY="; head -c 1 /proc/self/mem; ';
    expect(outside(dump).stdout).toContain(planted);
    expect(inside(dump).stdout).not.toContain('BATON_INTERNAL_KEY');
    const python = '/usr/bin/python3';
    if (!existsSync(python)) return;
    const attach = `${python} -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, ${pid}, 0, 0))'`;
    expect(outside(attach).stdout).toBe('0\n');
    expect(inside(attach).stdout).toBe('-1\n');
  });

  it('sees only its own in /proc', () => {
    const { pid } = startVictim();
    const look = `test -r /proc/${pid}/stat && echo seen; true`;
    expect(outside(look).stdout).toBe('seen\n');
    expect(inside(look).stdout).toBe('');
    if (!way.hasOwnProcesses) return;
    const count = 'set -- /proc/[0-9]*; echo $#';
    expect(Number(outside(count).stdout)).toBeGreaterThan(5);
    expect(Number(inside(count).stdout)).toBeLessThanOrEqual(5);
  });

  it('kills nobody else', () => {
    const victim = startVictim();
    inside(`kill -9 ${victim.pid}; kill -9 -1; true`);
    expect(() => process.kill(victim.pid!, 0)).not.toThrow();
    expect(victim.signalCode).toBeNull();
    expect(outside(`kill -9 ${victim.pid}`).isFine).toBe(true);
  });

  it('reads no file of another deployment', () => {
    expect(outside(`cat ${secretFile}`).stdout).toBe(planted);
    expect(inside(`cat ${secretFile}`)).toMatchObject({ isFine: false, stdout: '' });
    expect(inside(`cat ${join(settings.workRoot, 'uids')}/*`)).toMatchObject({ isFine: false, stdout: '' });
  });

  it('writes nothing outside of its own folders', () => {
    const places = [
      `/${planted}`,
      `/usr/${planted}`,
      `/etc/${planted}`,
      `/var/${planted}`,
      `/tmp/${planted}`,
    ];
    const write = places.map((place) => `echo x > ${place}`).join('; ');
    inside(`{ ${write}; } 2>/dev/null; true`);
    expect(places.filter((place) => existsSync(place))).toEqual([]);
    // The control runs as an account with the right to write: root, or the ordinary user where that is enough.
    runInside(noIsolation(), settings, () => ({ program: '/bin/sh', args: ['-c', write] }));
    expect(places.filter((place) => existsSync(place))).toEqual(places);
    for (const place of places) rmSync(place);
  });

  it('is stopped when it forks without end', async () => {
    const fork = 'i=0; while [ $i -lt 120 ]; do sleep 1 & i=$((i+1)); done; echo all';
    expect(outside(fork).stdout).toBe('all\n');
    expect(inside(fork)).toMatchObject({ isFine: false, reason: expect.stringMatching(/fork/i) });
    // Without an own pid namespace, processes left by the operation count until they end.
    await eventually(() => expect(inside('true | true; sleep 0 & wait').isFine).toBe(true));
  });

  it('fills neither the disk nor the memory', () => {
    const fill = 'head -c 20000000 /dev/zero > "$0/tmp/big"; stat -c %s "$0/tmp/big"';
    expect(outside(fill).stdout).toBe('20000000\n');
    const size = Number(inside(`${fill} 2>/dev/null`).stdout);
    expect(size).toBeLessThanOrEqual(10 * MB + 512);
    const eat = 'head -c 300000000 /dev/zero | tail -c 300000000 | wc -c';
    expect(Number(outside(eat).stdout)).toBe(300_000_000);
    expect(Number(inside(eat).stdout)).not.toBe(300_000_000);
  });

  it('leaves nothing behind', () => {
    const made = inside('echo "$0"; echo x > "$0/tmp/left"').stdout.trim();
    expect(made).toContain(settings.workRoot);
    expect(existsSync(made)).toBe(false);
    expect(statSync(settings.workRoot).mode & 0o777).toBe(0o711);
  });

  it('gets no rights by programs of the system and changes no mounts', () => {
    const status = 'grep -E "^(CapPrm|CapEff|CapBnd|NoNewPrivs)" /proc/self/status | tr -d "\\t\\n"';
    expect(inside(status).stdout).toMatch(/^CapPrm:0{16}CapEff:0{16}CapBnd:0{16}NoNewPrivs:1$/);
    const mount = 'mount -t tmpfs none /tmp && echo mounted';
    expect(inside(mount).stdout).toBe('');
    if (way.hasOwnProcesses) expect(inside('unshare -U true').isFine).toBe(false);
    expect(outside('unshare -U true').isFine).toBe(true);
  });
});

test('the programs that the suite is about are here', () => {
  expect(['bwrap', 'unshare', 'setpriv'].map((name) => findProgram(name, PATH) !== null)).toEqual([
    true,
    true,
    true,
  ]);
});
