/** A whole manager in the test's process, on a separate database and home, without workers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@baton/service-runtime';
import { eventually, testDatabase } from '@baton/testkit';
import { ZipFile } from 'yazl';
import { standaloneConfig } from '../config';
import { type Manager, startManager } from '../manager';

const SECRETS_KEY = 'the master key of both managers, 32 characters at least';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  body: any;
}

export interface TestManager {
  databaseUrl: string;
  call(
    method: string,
    path: string,
    body?: unknown,
    as?: { user?: string; password: string },
  ): Promise<Answer>;
  download(path: string): Promise<Buffer>;
  upload(method: string, path: string, content: Buffer): Promise<Answer>;
  /** Waits until the execution has ended and returns it. */
  ended(executionId: string): Promise<Answer['body']>;
  /** Messages of an execution's log, joined. */
  log(executionId: string): Promise<string>;
  /** Stops as in a planned stop, and starts again on the same database and home. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

export function zipOf(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content as string), name);
  zip.end();
  return bytesOf(zip.outputStream as unknown as AsyncIterable<unknown>);
}

export async function startTestManager(password: string, key = SECRETS_KEY): Promise<TestManager> {
  const database = await testDatabase({ migrations: [] });
  const home = mkdtempSync(join(tmpdir(), 'baton-home-'));
  writeFileSync(join(home, 'secrets.key'), key);
  const env = {
    BATON_HOME: home,
    BATON_PORT: '0',
    BATON_WORKERS: '0',
    BATON_ADMIN_PASSWORD: password,
    BATON_LOG_LEVEL: 'silent',
    BATON_CREDENTIAL_CACHE_MS: '0',
    // Several managers run at once on one server, together with other tests.
    BATON_DATABASE_CONNECTIONS: '4',
    DATABASE_URL: database.url,
  };
  const start = () => startManager(loadConfig(standaloneConfig, env), env as NodeJS.ProcessEnv);
  let manager: Manager = await start();
  const send = (
    method: string,
    path: string,
    init: RequestInit = {},
    as: { user?: string; password: string } = { password },
  ) =>
    fetch(`${manager.url}/api/v3.1${path}`, {
      method,
      ...init,
      headers: {
        tenant: 'default_tenant',
        authorization: `Basic ${Buffer.from(`${as.user ?? 'admin'}:${as.password}`).toString('base64')}`,
        ...init.headers,
      },
    });
  const answerOf = async (response: Response): Promise<Answer> => {
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  };
  const call: TestManager['call'] = async (method, path, body, as) =>
    answerOf(
      await send(
        method,
        path,
        body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
        as,
      ),
    );
  return {
    databaseUrl: database.url,
    call,
    upload: async (method, path, content) =>
      answerOf(
        await send(method, path, {
          body: new Uint8Array(content),
          headers: { 'content-type': 'application/octet-stream' },
        }),
      ),
    download: async (path) => Buffer.from(await (await send('GET', path)).arrayBuffer()),
    ended: (id) =>
      eventually(
        async () => {
          const { body } = await call('GET', `/executions/${id}`);
          return ['terminated', 'failed', 'cancelled'].includes(body.status) && body;
        },
        { deadlineMs: 30_000 },
      ),
    log: async (id) => {
      const { body } = await call('GET', `/events?execution_id=${id}&_size=1000`);
      return (body.items as { message: string }[]).map(({ message }) => message).join('\n');
    },
    restart: async () => {
      await manager.stop();
      manager = await start();
    },
    close: async () => {
      await manager.stop();
      await database.drop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
