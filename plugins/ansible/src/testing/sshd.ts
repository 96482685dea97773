import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort, greetingServer } from '@baton/testkit';

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
  const server = greetingServer({ command: '/usr/sbin/sshd', args: ['-D', '-e', '-f', config], port });
  await server.start();
  return {
    port,
    user: userInfo().username,
    knownHost: `[127.0.0.1]:${port} ${readFileSync(join(folder, 'host.pub'), 'utf8')}`,
    key: readFileSync(join(folder, 'login'), 'utf8'),
    place,
    sessions: () => sessionsOf(readFileSync(join(folder, 'pid'), 'utf8').trim()),
    stop: async () => {
      await server.stop('SIGTERM');
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

function sessionsOf(parent: string): number {
  try {
    return execFileSync('pgrep', ['-P', parent], { encoding: 'utf8' }).trim().split('\n').length;
  } catch {
    return 0;
  }
}
