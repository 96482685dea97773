import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';

/** A real sshd on loopback with a configuration, host key and login of its own. */
export interface Sshd {
  port: number;
  user: string;
  /** Its line for a file known_hosts. */
  knownHost: string;
  /** Text of the private key that may log in. */
  key: string;
  /** A folder for the effects of playbooks; logins see it as the whole machine does. */
  place: string;
  /** Processes of sessions that are open now. */
  sessions(): number;
  stop(): Promise<void>;
}

/** Starts sshd. @throws Error when it is not installed, or does not start */
export async function startSshd(): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-sshd-'));
  const keygen = (name: string): void =>
    void execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  keygen('host');
  keygen('login');
  writeFileSync(join(folder, 'authorized'), readFileSync(join(folder, 'login.pub')));
  // The folder of the privilege separation is one of the machine.
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const port = await freePort();
  const config = join(folder, 'config');
  writeFileSync(config, configText(folder, port));
  const place = join(folder, 'place');
  mkdirSync(place);
  chmodSync(place, 0o700);
  const child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said = (said + data.toString()).slice(-2000);
  });
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`sshd ended with ${child.exitCode}: ${said}`);
    if (!(await answers(port))) throw new Error(`sshd does not answer: ${said}`);
  });
  return {
    port,
    user: userInfo().username,
    knownHost: `[127.0.0.1]:${port} ${readFileSync(join(folder, 'host.pub'), 'utf8')}`,
    key: readFileSync(join(folder, 'login'), 'utf8'),
    place,
    sessions: () => sessionsOf(child.pid!),
    stop: async () => {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const configText = (folder: string, port: number): string => `Port ${port}
ListenAddress 127.0.0.1
HostKey ${join(folder, 'host')}
AuthorizedKeysFile ${join(folder, 'authorized')}
PidFile ${join(folder, 'pid')}
PermitRootLogin prohibit-password
PasswordAuthentication no
StrictModes no
UsePAM no
MaxSessions 50
MaxStartups 50
Subsystem sftp internal-sftp
`;

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function sessionsOf(parent: number): number {
  try {
    return execFileSync('pgrep', ['-P', String(parent)], { encoding: 'utf8' })
      .trim()
      .split('\n').length;
  } catch {
    return 0;
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.kill('SIGTERM')) await ended;
}
