import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from './commands';

/** The login of a host: in the group of nobody else, with sudo that asks for no password. */
export const LOGIN = { name: 'guest', id: 23_456 };

const PROGRAMS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** What the system itself writes while commands run: no trace of them. */
const OF_THE_SYSTEM = /^\/(run\/(sshd|sudo|sshd\.pid)|var\/lib\/sudo|var\/log\/(lastlog|wtmp|btmp))(\/|$)/;

/** Keys of a run: one login key for all of its hosts. */
export interface LoginKey {
  /** Path of the private key. */
  file: string;
  text: string;
}

export function makeLoginKey(folder: string): LoginKey {
  const file = join(folder, 'login');
  makeKey(file);
  return { file, text: readFileSync(file, 'utf8') };
}

const makeKey = (path: string): void =>
  void mustRun('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', path);

export interface DiskOptions {
  name: string;
  /** Address of this machine in the hosts' network; they know it as `manager`. */
  managerAddress: string;
  /** False: the login has no sudo. */
  hasSudo: boolean;
  key: LoginKey;
}

/** Fills the folder of a host: what host-init.sh mounts over the file systems of the machine. */
export function makeDisk(folder: string, { name, managerAddress, hasSudo, key }: DiskOptions): void {
  for (const place of ['root', 'work', 'disk']) mkdirSync(join(folder, place), { recursive: true });
  const disk = join(folder, 'disk');
  for (const place of ['etc/ssh', 'etc/sudoers.d', 'opt', 'home', 'root', 'srv', 'run', 'tmp'])
    mkdirSync(join(disk, place), { recursive: true });
  for (const place of ['cache', 'lib/sudo', 'log', 'spool/cron/crontabs', 'tmp'])
    mkdirSync(join(disk, 'var', place), { recursive: true });
  for (const place of ['tmp', 'var/tmp']) chmodSync(join(disk, place), 0o1777);
  chmodSync(join(disk, 'root'), 0o700);
  const home = join(disk, 'home', LOGIN.name);
  mkdirSync(home, { mode: 0o755 });
  chownSync(home, LOGIN.id, LOGIN.id);
  const etc = (path: string, text: string, mode = 0o644): void =>
    writeFileSync(join(disk, 'etc', path), text, { mode });
  const { name: user, id } = LOGIN;
  const machine = (file: string): string => readFileSync(join('/etc', file), 'utf8');
  etc('passwd', `${withSshd(machine('passwd'))}${user}:x:${id}:${id}::/home/${user}:/bin/bash\n`);
  etc('group', `${machine('group')}${user}:x:${id}:\n`);
  etc('shadow', `root:*:19000:0:99999:7:::\n${user}:*:19000:0:99999:7:::\n`, 0o640);
  etc('hostname', `${name}\n`);
  etc('hosts', `127.0.0.1 localhost ${name}\n${managerAddress} manager\n`);
  etc('resolv.conf', '');
  const rights = hasSudo ? `${user} ALL=(ALL:ALL) NOPASSWD: ALL\n` : '';
  etc(
    'sudoers',
    `Defaults secure_path="${PROGRAMS}"\nroot ALL=(ALL:ALL) ALL\n${rights}@includedir /etc/sudoers.d\n`,
    0o440,
  );
  makeKey(join(disk, 'etc/ssh/host'));
  etc('ssh/login', readFileSync(`${key.file}.pub`, 'utf8'));
  etc('ssh/sshd_config', SSHD);
}

/** The machine may know no user `sshd`, which sshd needs. */
const withSshd = (passwd: string): string =>
  /^sshd:/m.test(passwd) ? passwd : `${passwd}sshd:x:110:65534::/run/sshd:/usr/sbin/nologin\n`;

const SSHD = [
  'HostKey /etc/ssh/host',
  'AuthorizedKeysFile /etc/ssh/login',
  'PasswordAuthentication no',
  'PermitRootLogin prohibit-password',
  'UsePAM no',
  'MaxStartups 100',
  'MaxSessions 100',
  'Subsystem sftp internal-sftp',
  '',
].join('\n');

/**
 * Returns the paths that the host has on its own disk, as the host sees them, without those of the system: after an uninstallation
 * they are those of before the installation. Changed files of /etc count as its own.
 */
export function pathsOn(folder: string): string[] {
  const disk = join(folder, 'disk');
  return readdirSync(disk, { recursive: true, encoding: 'utf8' })
    .map((path) => `/${path}`)
    .filter((path) => !OF_THE_SYSTEM.test(path))
    .sort();
}
