import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';
import { greetingServer } from './greeting-server';

/** A real sshd at the loopback address, with accounts that exist for it alone. */
export interface SshHost {
  host: string;
  port: number;
  /** May use sudo with `password`. Its home is `home`. */
  user: string;
  password: string;
  /** Private key of `user`, and of root. */
  key: string;
  /** Public host key, as a known_hosts file has it: `ssh-ed25519 AAAA...`. */
  hostKey: string;
  home: string;
  folder: string;
  /** Gives the host a key of its own anew, as a reinstalled machine has it. Open connections stay. */
  changeHostKey(): Promise<void>;
  stop(): Promise<void>;
}

const USER = 'guest';
const PASSWORD = 'Geheim-4711';
/** Of PASSWORD, by `openssl passwd -6`. */
const HASH =
  '$6$batonsalt$con5DUj2eoc4/SKBFfHPVij864jEuT4wiebkDVs4fJpFtQgk2.nQ6ypmdVF5Keph35nBeMRFkcbM2fvPBBteK/';
const UID = 23_456;

/**
 * Starts sshd (Debian: openssh-server, sudo) in a mount namespace, where its accounts lie over those of the machine. Needs root.
 * @param lines further lines of sshd_config; the first line for a keyword counts
 * @param bash false: its logins have no bash
 * @throws Error when it cannot be started
 */
export async function sshHost(lines: readonly string[] = [], bash = true): Promise<SshHost> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-sshd-'));
  chmodSync(folder, 0o755);
  const home = join(folder, 'home');
  mkdirSync(home);
  chownSync(home, UID, UID);
  const port = await freePort();
  writeAccounts(folder, home, bash ? '/bin/bash' : '/bin/sh');
  makeKey(join(folder, 'login'));
  makeKey(join(folder, 'host'));
  const authorized = join(folder, 'authorized_keys');
  writeFileSync(authorized, readFileSync(join(folder, 'login.pub')));
  writeFileSync(join(folder, 'sshd_config'), configOf(folder, port, lines));
  // sshd refuses to start without its folder.
  mkdirSync('/run/sshd', { recursive: true });
  const mounts = ['passwd', 'group', 'shadow', 'sudoers'].map(
    (name) => `mount --bind ${join(folder, name)} /etc/${name}`,
  );
  if (!bash) mounts.push('mount --bind /dev/null "$(readlink -f /bin/bash)"');
  const server = greetingServer({
    command: 'unshare',
    args: [
      '--mount',
      'sh',
      '-c',
      `${mounts.join(' && ')} && exec /usr/sbin/sshd -D -e -f ${folder}/sshd_config`,
    ],
    port,
  });
  await server.start();
  return {
    host: '127.0.0.1',
    port,
    user: USER,
    password: PASSWORD,
    key: readFileSync(join(folder, 'login'), 'utf8'),
    get hostKey() {
      return readFileSync(join(folder, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
    },
    home,
    folder,
    changeHostKey: async () => {
      await server.stop('SIGTERM');
      for (const name of ['host', 'host.pub']) rmSync(join(folder, name));
      makeKey(join(folder, 'host'));
      await server.start();
    },
    stop: async () => {
      await server.stop('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const makeKey = (path: string): void =>
  void execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', path]);

/** The accounts of the machine, and one more. */
function writeAccounts(folder: string, home: string, shell: string): void {
  const added = {
    passwd: `${USER}:x:${UID}:${UID}::${home}:${shell}\n`,
    group: `${USER}:x:${UID}:\n`,
    shadow: `${USER}:${HASH}:19000:0:99999:7:::\n`,
    sudoers: `Defaults timestamp_timeout=0\n${USER} ALL=(ALL:ALL) ALL\nroot ALL=(ALL:ALL) NOPASSWD: ALL\n`,
  };
  for (const [name, line] of Object.entries(added)) {
    const place = join(folder, name);
    writeFileSync(place, name === 'sudoers' ? line : `${readFileSync(`/etc/${name}`, 'utf8')}${line}`);
    // sudo judges the rights of its file.
    chmodSync(place, name === 'sudoers' ? 0o440 : statSync(`/etc/${name}`).mode & 0o777);
  }
}

const configOf = (folder: string, port: number, lines: readonly string[]): string =>
  [
    ...lines,
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${folder}/host`,
    `PidFile ${folder}/sshd.pid`,
    `AuthorizedKeysFile ${folder}/authorized_keys`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin yes',
    'PasswordAuthentication yes',
    'Subsystem sftp internal-sftp',
    '',
  ].join('\n');
