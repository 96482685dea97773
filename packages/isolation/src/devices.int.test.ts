/** The devices that programs of an operation see below /dev, with the device folder that root makes. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseIsolation } from './choose-isolation';
import { deviceMounts } from './devices';
import type { IsolationSettings } from './port';
import { runInside } from './probe';

const PATH = '/usr/local/bin:/usr/bin:/bin';
let root: string;
let settings: IsolationSettings;

beforeEach(() => {
  if (process.getuid?.() !== 0) throw new Error('devices are made here: run this suite as root');
  root = mkdtempSync('/var/tmp/baton-devices-');
  chmodSync(root, 0o711);
  mkdirSync(join(root, 'assets/bin'), { recursive: true });
  writeFileSync(join(root, 'assets/bin/ctx'), '');
  settings = {
    mode: 'bubblewrap',
    workRoot: root,
    assetsDir: join(root, 'assets'),
    uids: { first: 330_000, last: 330_100 },
    account: null,
    limits: { processes: 1024, openFiles: 256, fileBytes: 1e8, memoryBytes: 1e9 },
    shared: [],
    hidden: [],
    path: PATH,
  };
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('devices, terminals and shared memory work, and shared memory is the own of the operation', () => {
  const { isolation } = chooseIsolation(settings);
  const python = `
import os, pty
from multiprocessing import Lock, shared_memory
open('/dev/null', 'w').write('gone')
assert open('/dev/zero', 'rb').read(3) == bytes(3)
assert len(open('/dev/urandom', 'rb').read(8)) == 8
try:
    os.write(os.open('/dev/full', os.O_WRONLY), b'x')
    raise SystemExit('full takes more')
except OSError as error:
    assert error.errno == 28
here, there = pty.openpty()
os.write(there, b'said')
assert os.read(here, 4) == b'said'
Lock()
memory = shared_memory.SharedMemory(create=True, size=4096)
assert os.path.dirname(os.path.realpath('/dev/shm')) == '/' and len(os.listdir('/tmp')) > 0
memory.close(); memory.unlink()
print('fine')`;
  const end = runInside(isolation, settings, () => ({ program: 'python3', args: ['-c', python] }));
  expect([end.stdout, end.isFine ? '' : end.reason]).toEqual(['fine\n', '']);
});

test('nothing of an operation changes the devices of others', () => {
  const { isolation } = chooseIsolation(settings);
  const end = runInside(isolation, settings, () => ({
    program: '/bin/sh',
    args: ['-c', 'rm -f /dev/null; mv /dev/zero /dev/other; echo x > /dev/new; chmod 600 /dev/full; true'],
  }));
  expect(end.isFine).toBe(true);
  for (const name of ['null', 'zero', 'full'])
    expect(statSync(join(root, 'dev', name)).mode & 0o777).toBe(0o666);
  expect(existsSync(join(root, 'dev/new'))).toBe(false);
});

test('where a folder of devices cannot be made, bubblewrap makes them for each operation', () => {
  expect(deviceMounts(root, false, PATH)).toEqual(['--dev', '/dev']);
  expect(deviceMounts(root, true, '/nowhere')).toEqual(['--dev', '/dev']);
  expect(deviceMounts(root, true, PATH)).toContain(join(root, 'dev'));
});
