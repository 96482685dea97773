/**
 * The real program (dist/) with BATON_TLS=required: the hello example from upload to outputs and deletion, over https, with a
 * worker.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@baton/kernel';
import { createAuthority, writeIssued } from '@baton/tls/authority';
import { freePorts, root } from '../harness/processes';

jest.setTimeout(240_000);
const dir = mkdtempSync(join(tmpdir(), 'baton-tls-'));
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

/** Creates certificates and settings of a manager whose certificate is for 127.0.0.1. */
async function environment(port: number): Promise<Record<string, string>> {
  const nowMs = systemClock.now();
  const authority = await createAuthority('a desk', nowMs);
  const issue = async (folder: string, names: string[]) =>
    writeIssued(join(dir, folder), await authority.issue({ names, nowMs }), authority.cert);
  const own = await issue('standalone', ['gateway']);
  const edge = await issue('edge', ['127.0.0.1', 'localhost']);
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !/^BATON_|^(DATABASE|AMQP|REDIS)_URL$/.test(name),
  );
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    BATON_HOME: join(dir, 'home'),
    BATON_PORT: String(port),
    BATON_ADMIN_PASSWORD: 'a long enough password',
    BATON_TLS: 'required',
    BATON_TLS_CA_FILE: own.ca,
    BATON_TLS_CERT_FILE: own.cert,
    BATON_TLS_KEY_FILE: own.key,
    BATON_HTTPS_CERT_FILE: edge.cert,
    BATON_HTTPS_KEY_FILE: edge.key,
    // For the demo command, and for operations that call the API.
    NODE_EXTRA_CA_CERTS: edge.ca,
  };
}

/** Returns the result of a request without TLS while the manager is running. */
const plainly = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (response) => {
      response.resume();
      resolve(`status ${response.statusCode}`);
    });
    sent.on('error', () => resolve('refused'));
    sent.end();
  });

test('the demo runs from upload to outputs, and who comes without TLS is refused', async () => {
  const [port] = (await freePorts(1)) as [number];
  const env = await environment(port);
  const child = spawn(process.execPath, [join(root, 'dist/apps/standalone/main.js'), '--demo', '--once'], {
    env,
  });
  let said = '';
  let plain: Promise<string> | null = null;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      if (said.includes('$ baton')) plain ??= plainly(port);
    });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect([code, said]).toEqual([0, expect.stringContaining('installed, read, uninstalled and deleted')]);
  expect(said).toContain(`https://127.0.0.1:${port}/api/v3.1`);
  expect(await plain).toBe('refused');
});
