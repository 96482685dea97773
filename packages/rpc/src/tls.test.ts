import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { clusterStatusRpc } from '@baton/contracts';
import { Secret, silentLog, systemClock } from '@baton/kernel';
import { createTlsSource, type TlsSource } from '@baton/tls';
import { type Authority, createAuthority, writeIssued } from '@baton/tls/authority';
import {
  type CallerCredential,
  createLeaseProofs,
  derivedTrust,
  type IdentityOwner,
  newWorkerKey,
  serviceCredential,
  signCertificate,
  workerTokens,
} from '@baton/trust';
import { createGrpcConnector, createRpcServer, type RpcGuard, type RpcServer } from './index';

const Definition = {
  ...clusterStatusRpc.ClusterStatusServiceDefinition,
  methods: { report: clusterStatusRpc.ClusterStatusServiceDefinition.methods.report },
} as const;
const nowMs = systemClock.now();
const LOCAL = ['cluster-status', 'localhost', '127.0.0.1'];

let root: string;
let authority: Authority;
const undo: (() => unknown)[] = [];
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'rpc-tls-'));
  authority = await createAuthority('test', nowMs);
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function identity(name: string, names: string[], by = authority): Promise<TlsSource> {
  const files = writeIssued(join(root, name), await by.issue({ names, nowMs }), authority.cert);
  const source = createTlsSource(files, { log: silentLog });
  undo.push(() => source.close());
  return source;
}

async function serve(tls?: TlsSource, guard?: RpcGuard): Promise<{ server: RpcServer; port: number }> {
  const server = createRpcServer({ log: silentLog, tls, ...(guard && { guard }) });
  server.serve(Definition, {
    report: async ({ service }: { service: string }) => ({ maintenance: `for ${service}` }),
  } as never);
  undo.push(() => server.close(500));
  return { server, port: await server.listen('127.0.0.1', 0) };
}

function ask(host: string, port: number, tls?: TlsSource, credential?: CallerCredential) {
  const connector = createGrpcConnector({
    addresses: { 'cluster-status': `${host}:${port}` },
    log: silentLog,
    tls,
    ...(credential && { credential }),
  });
  undo.push(() => connector.close());
  const client = connector.client(Definition, 'cluster-status');
  return (deadlineMs = 20_000, request: object = { service: 'x' }) => client.report(request, { deadlineMs });
}
/** Long enough for several attempts. */
const REFUSED_MS = 1_500;
const refused = { code: 'service_unavailable_error' };

/** Serial number of the certificate that a new connection gets. */
const shownAt = async (port: number): Promise<string> =>
  await new Promise((resolve, reject) => {
    const socket = connect(
      { host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] },
      () => {
        resolve(socket.getPeerX509Certificate()!.serialNumber);
        socket.destroy();
      },
    );
    socket.once('error', reject);
  });

test('both sides show certificates of one authority; every other way is refused', async () => {
  const { port } = await serve(await identity('server', LOCAL));
  const caller = await identity('caller', ['executions']);
  expect(await ask('127.0.0.1', port, caller)()).toMatchObject({ maintenance: 'for x' });

  await expect(ask('127.0.0.1', port)(REFUSED_MS)).rejects.toMatchObject(refused);
  const stranger = await createAuthority('stranger', nowMs);
  const foreign = await identity('foreign', ['executions'], stranger);
  await expect(ask('127.0.0.1', port, foreign)(REFUSED_MS)).rejects.toMatchObject(refused);
});

test('a server of another name, of another authority, or without TLS is not talked to', async () => {
  const caller = await identity('caller', ['executions']);
  const wrongName = await serve(await identity('wrong', ['secrets']));
  await expect(ask('127.0.0.1', wrongName.port, caller)(REFUSED_MS)).rejects.toMatchObject(refused);
  const stranger = await createAuthority('stranger', nowMs);
  const foreign = await serve(await identity('foreign', LOCAL, stranger));
  await expect(ask('127.0.0.1', foreign.port, caller)(REFUSED_MS)).rejects.toMatchObject(refused);
  const plain = await serve();
  await expect(ask('127.0.0.1', plain.port, caller)(REFUSED_MS)).rejects.toMatchObject(refused);
});

test('a renewed certificate is shown to new connections; old ones go on', async () => {
  const source = await identity('server', LOCAL);
  const { port } = await serve(source);
  const call = ask('127.0.0.1', port, await identity('caller', ['executions']));
  await call();
  const before = await shownAt(port);
  expect(await shownAt(port)).toBe(before);
  writeIssued(join(root, 'server'), await authority.issue({ names: LOCAL, nowMs }), authority.cert);
  expect(source.refresh()).toBe(true);
  expect(await shownAt(port)).not.toBe(before);
  expect(await call()).toMatchObject({ maintenance: 'for x' });
});

test('a caller shows its renewed certificate to new connections', async () => {
  const { port } = await serve(await identity('server', LOCAL));
  const source = await identity('late', ['executions'], await createAuthority('stranger', nowMs));
  const call = ask('127.0.0.1', port, source);
  await expect(call(REFUSED_MS)).rejects.toMatchObject(refused);
  writeIssued(join(root, 'late'), await authority.issue({ names: ['executions'], nowMs }), authority.cert);
  source.refresh();
  expect(await call()).toMatchObject({ maintenance: 'for x' });
});

describe('the token of a call and the certificate of its connection name the same caller', () => {
  const key = new Secret('the internal key of this test');
  const guard: RpcGuard = {
    bundle: derivedTrust('cluster-status', key).bundle,
    services: ['cluster-status'],
    leases: createLeaseProofs(key),
  };
  const token = (name: IdentityOwner) => serviceCredential(derivedTrust(name, key).identity);
  const unknown = { code: 'unauthorized_error' };

  test.each([
    ['catalog', 'catalog', true],
    ['catalog.baton.svc', 'catalog', true],
    ['executions', 'catalog', false],
    ['worker', 'executions', false],
    ['catalogue', 'catalog', false],
  ] as const)('certificate of %s, token of %s: %p', async (certified, caller, isGood) => {
    const { port } = await serve(await identity('server', LOCAL), guard);
    const call = ask('127.0.0.1', port, await identity('caller', [certified]), token(caller));
    if (isGood) expect(await call()).toMatchObject({ maintenance: 'for x' });
    else await expect(call()).rejects.toMatchObject(unknown);
  });

  test('a worker shows the certificate of workers, and none of a service', async () => {
    const { port } = await serve(await identity('server', LOCAL), guard);
    const pair = newWorkerKey();
    const { identity: signer } = derivedTrust('executions', key);
    const certificate = signCertificate(signer, { workerId: 'w1', publicKey: pair.publicKey });
    const worker = { tokenFor: workerTokens(pair, certificate), ready: async () => undefined };
    const own = { service: 'worker', instanceId: 'w1' };
    const good = ask('127.0.0.1', port, await identity('w', ['worker']), worker);
    expect(await good(20_000, own)).toMatchObject({ maintenance: 'for worker' });
    const borrowed = ask('127.0.0.1', port, await identity('e', ['executions']), worker);
    await expect(borrowed(20_000, own)).rejects.toMatchObject(unknown);
    await expect(ask('127.0.0.1', port, await identity('e', ['executions']))()).rejects.toMatchObject(
      unknown,
    );
  });

  test('a token that changes on an open stream is held to the same certificate', async () => {
    const { port } = await serve(await identity('server', LOCAL), guard);
    let shown = token('catalog');
    const credential = { ...shown, tokenFor: () => shown.tokenFor('cluster-status') };
    const call = ask('127.0.0.1', port, await identity('caller', ['catalog']), credential);
    for (const _ of [1, 2, 3]) expect(await call()).toMatchObject({ maintenance: 'for x' });
    shown = token('executions');
    await expect(call()).rejects.toMatchObject(unknown);
    shown = token('catalog');
    expect(await call()).toMatchObject({ maintenance: 'for x' });
  });

  test('without TLS the token alone says who calls', async () => {
    const { port } = await serve(undefined, guard);
    expect(await ask('127.0.0.1', port, undefined, token('catalog'))()).toMatchObject({
      maintenance: 'for x',
    });
  });
});
