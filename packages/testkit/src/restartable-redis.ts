import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';
import type { RestartableServer, ServerCertificate } from './restartable-postgres';
import { serverProcess } from './server-process';

/** Starts a private Redis on a free port; it stores nothing on disk. With `tls` it refuses connections without TLS. */
export async function restartableRedis(tls?: ServerCertificate): Promise<RestartableServer> {
  const root = mkdtempSync(join(tmpdir(), 'baton-test-redis-'));
  const port = await freePort();
  const listening = tls
    ? ['--port', '0', '--tls-port', String(port), '--tls-cert-file', tls.cert, '--tls-key-file', tls.key]
    : ['--port', String(port)];
  const trust = tls ? ['--tls-ca-cert-file', tls.ca, '--tls-auth-clients', 'no'] : [];
  const args = ['--bind', '127.0.0.1', '--save', '', '--dir', root, ...listening, ...trust];
  const server = serverProcess({
    command: 'redis-server',
    args,
    isReady: () => listens(port),
    startTimeoutMs: 15_000,
  });
  await server.start();
  const kill = (): Promise<void> => server.stop('SIGKILL');
  return {
    url: `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    start: server.start,
    kill,
    restart: async () => {
      await kill();
      await server.start();
    },
    close: async () => {
      await kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const listens = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
