/** Agents at a gateway that speaks HTTPS itself: the server name chooses their certificate, and browsers meet no prompt. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { AGENT_SERVER_NAME, agentPaths } from '@baton/contracts';
import { systemClock } from '@baton/kernel';
import { freePort } from '@baton/testkit';
import { type Authority, createAuthority, writeIssued } from '@baton/tls/authority';
import { type AgentsWorld, startAgentsWorld } from './agents-world';

const root = mkdtempSync(join(tmpdir(), 'agents-https-'));
let world: AgentsWorld;
let users: Authority;
let ownPort: number;
beforeAll(async () => {
  const nowMs = systemClock.now();
  users = await createAuthority('users', nowMs);
  const files = writeIssued(root, await users.issue({ names: ['localhost'], nowMs }), users.cert);
  ownPort = await freePort();
  world = await startAgentsWorld({
    env: {
      BATON_HTTPS_CERT_FILE: files.cert,
      BATON_HTTPS_KEY_FILE: files.key,
      BATON_AGENTS_PORT: String(ownPort),
      BATON_HOST: '127.0.0.1',
    },
  });
});
afterAll(async () => {
  await world.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Shakes hands as a browser; resolves with the server's name and whether it asked for a certificate. */
function shake(servername: string): Promise<{ name: string; socket: TLSSocket }> {
  return new Promise((resolve, reject) => {
    const ca = [users.cert, world.peers.authority.cert];
    const socket = connect({ host: '127.0.0.1', port: world.port, servername, ca }, () =>
      resolve({ name: String(socket.getPeerCertificate().subject.CN), socket }),
    );
    socket.on('error', reject);
  });
}

test('users get the certificate of users, and agents that of agents', async () => {
  for (const [servername, name] of [
    ['localhost', 'localhost'],
    [AGENT_SERVER_NAME, AGENT_SERVER_NAME],
  ] as const) {
    const shaken = await shake(servername);
    expect(shaken.name).toBe(name);
    shaken.socket.destroy();
  }
});

test('an agent has its stream on the port of the API', async () => {
  const agent = await world.agent('h1');
  expect((await agent.claim()).error).toBeUndefined();
  expect(await world.stream(null).refused).toBe(401);
});

test('a certificate of an agent opens nothing among users', async () => {
  const { cert, key } = await world.certificate('h2');
  const status = await new Promise<string>((resolve, reject) => {
    const ca = users.cert;
    const socket = connect({ host: '127.0.0.1', port: world.port, servername: 'localhost', ca, cert, key });
    socket.on('error', reject);
    socket.write(`POST ${agentPaths.renew} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`);
    socket.once('data', (bytes) => {
      resolve(bytes.toString().slice(9, 12));
      socket.destroy();
    });
  });
  expect(status).toBe('404');
});

test('the port of their own takes agents alone', async () => {
  const agent = await world.agent('h3', { port: ownPort });
  expect((await agent.claim()).error).toBeUndefined();
  await expect(fetch(`http://127.0.0.1:${ownPort}/api/v3.1/open`)).rejects.toThrow();
});
