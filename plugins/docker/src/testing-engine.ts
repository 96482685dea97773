import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, serverProcess } from '@baton/testkit';

/** A real engine (Debian: docker.io) without networks of its own, with the image `base:1`, which holds busybox. */
export interface TestEngine {
  socket: string;
  /** Behind TLS, with certificates for clients. */
  port: number;
  tls: { ca: string; cert: string; key: string };
  /** Runs the command docker. */
  docker(...args: string[]): string;
  stop(): Promise<void>;
}

const START_MS = 60_000;

/** Starts dockerd in a folder of its own. Needs root. @throws Error when it cannot be started */
export async function testEngine(): Promise<TestEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-docker-'));
  const socket = join(folder, 'docker.sock');
  const port = await freePort();
  const file = (name: string): string => join(folder, name);
  makeCertificates(folder);
  const server = serverProcess({
    command: 'dockerd',
    args: [
      ...[
        '--data-root',
        file('data'),
        '--exec-root',
        file('run'),
        '--pidfile',
        file('pid'),
        '--host',
        `unix://${socket}`,
      ],
      ...[
        '--storage-driver',
        'vfs',
        '--iptables=false',
        '--bridge=none',
        '--host',
        `tcp://127.0.0.1:${port}`,
        '--tlsverify',
      ],
      ...['--tlscacert', file('ca.pem'), '--tlscert', file('server.pem'), '--tlskey', file('server.key')],
    ],
    isReady: () => answers(socket),
    startTimeoutMs: START_MS,
  });
  await server.start();
  const docker = (...args: string[]): string =>
    execFileSync('docker', ['--host', `unix://${socket}`, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  importBase(folder, docker);
  return {
    socket,
    port,
    tls: {
      ca: readFileSync(file('ca.pem'), 'utf8'),
      cert: readFileSync(file('client.pem'), 'utf8'),
      key: readFileSync(file('client.key'), 'utf8'),
    },
    docker,
    stop: async () => {
      const ids = docker('ps', '-aq').split('\n').filter(Boolean);
      if (ids.length > 0) docker('rm', '-f', ...ids);
      await server.stop('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A root folder with the programs that tests run. */
function importBase(folder: string, docker: TestEngine['docker']): void {
  const root = join(folder, 'root');
  mkdirSync(join(root, 'bin'), { recursive: true });
  cpSync('/bin/busybox', join(root, 'bin/busybox'));
  for (const name of ['sh', 'sleep', 'echo', 'cat', 'touch', 'env'])
    symlinkSync('busybox', join(root, 'bin', name));
  execFileSync('tar', ['-cf', join(folder, 'root.tar'), '-C', root, '.']);
  docker('import', join(folder, 'root.tar'), 'base:1');
}

/** An authority, a server at 127.0.0.1 and a client. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl(...request, '-subj', '/CN=test', '-keyout', 'ca.key', '-out', 'ca.pem');
  for (const name of ['server', 'client']) {
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', 'subjectAltName=IP:127.0.0.1'];
    openssl(
      ...request,
      '-subj',
      `/CN=${name}`,
      ...signed,
      '-addext',
      'basicConstraints=critical,CA:FALSE',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    );
  }
}

/** @throws Error until the engine takes connections */
function answers(socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = connect(socket);
    connection.once('error', reject);
    connection.once('data', () => {
      connection.destroy();
      resolve();
    });
    connection.write('GET /_ping HTTP/1.0\r\n\r\n');
  });
}
