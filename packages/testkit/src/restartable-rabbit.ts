import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomSuffix } from '@baton/kernel';
import { connect } from 'amqplib';
import { freePort } from './free-port';
import type { RestartableServer, ServerCertificate } from './restartable-postgres';
import { serverProcess } from './server-process';

const SERVER = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const CONTROL = '/usr/lib/rabbitmq/bin/rabbitmqctl';
const CONTROL_MS = 30_000;

export interface RestartableRabbit extends RestartableServer {
  /** Folder of all its files. */
  folder: string;
  /** URL of the management API, as the administrator; null without the plugin. */
  apiUrl: string | null;
  /** Runs rabbitmqctl on the node. @throws when it fails. */
  control(args: string[]): Promise<void>;
}

/** Configuration that listens only with TLS; users log in with passwords. */
const tlsConfig = (port: number, { ca, cert, key }: ServerCertificate): string => `listeners.tcp = none
listeners.ssl.1 = 127.0.0.1:${port}
ssl_options.cacertfile = ${ca}
ssl_options.certfile = ${cert}
ssl_options.keyfile = ${key}
ssl_options.versions.1 = tlsv1.3
ssl_options.versions.2 = tlsv1.2
ssl_options.verify = verify_none
`;

/** Starts a private RabbitMQ node on free ports, in a few seconds. With `tls` it refuses connections without TLS. */
export async function restartableRabbit(
  tls?: ServerCertificate,
  o: { hasManagement?: boolean } = {},
): Promise<RestartableRabbit> {
  const root = mkdtempSync(join(tmpdir(), 'baton-test-mq-'));
  const port = await freePort();
  const apiPort = o.hasManagement ? await freePort() : null;
  const config = join(root, 'rabbitmq.conf');
  const plugins = join(root, 'plugins');
  if (apiPort !== null) writeFileSync(plugins, '[rabbitmq_management].\n');
  const api = apiPort === null ? '' : `management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = ${apiPort}\n`;
  writeFileSync(
    config,
    `${api}${tls ? tlsConfig(port, tls) : `listeners.tcp.1 = 127.0.0.1:${port}\n`}loopback_users = none\n`,
  );
  const env = {
    // Folder of the node's cookie.
    HOME: root,
    RABBITMQ_NODENAME: `test-${randomSuffix(6)}@localhost`,
    ...(tls ? {} : { RABBITMQ_NODE_PORT: String(port) }),
    RABBITMQ_DIST_PORT: String(await freePort()),
    RABBITMQ_MNESIA_BASE: join(root, 'mnesia'),
    RABBITMQ_LOG_BASE: join(root, 'log'),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
  };
  const url = `${tls ? 'amqps' : 'amqp'}://guest:guest@127.0.0.1:${port}`;
  const server = serverProcess({
    command: SERVER,
    args: [],
    env,
    isReady: () => answers(url),
    startTimeoutMs: 60_000,
  });
  await server.start();
  const kill = (): Promise<void> => server.stop('SIGKILL');
  return {
    url,
    apiUrl: apiPort === null ? null : `http://guest:guest@127.0.0.1:${apiPort}`,
    folder: root,
    start: server.start,
    kill,
    control: async (args) => {
      await promisify(execFile)(CONTROL, ['-n', env.RABBITMQ_NODENAME, ...args], {
        env: { ...process.env, ...env },
        timeout: CONTROL_MS,
      });
    },
    restart: async () => {
      // A quorum queue made within the last seconds may come back from a kill without a leader (seen with 3.10.8): so the node is
      // stopped.
      await server.stop('SIGTERM');
      await server.start();
    },
    close: async () => {
      await kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<void> {
  const connection = await connect(url, { timeout: 2_000, rejectUnauthorized: false });
  await connection.close();
}
