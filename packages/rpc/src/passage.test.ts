import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentWorkerId, catalogRpc, executionsRpc } from '@baton/contracts';
import { AppError, Secret, silentLog, systemClock } from '@baton/kernel';
import { createTlsSource, type TlsSource } from '@baton/tls';
import { type Authority, createAuthority, writeIssued } from '@baton/tls/authority';
import {
  type CallerCredential,
  createLeaseProofs,
  derivedTrust,
  newWorkerKey,
  serviceCredential,
  signCertificate,
  workerTokens,
} from '@baton/trust';
import { createGrpcConnector } from './connector';
import type { ServedCall } from './definition';
import { createLocalRpc } from './local';
import { createGuardedPassage, type PassedCall, type RpcPassage } from './passage';
import { createRpcServer } from './server';

const key = new Secret('the internal key of this test');
const { identity: registrar, bundle } = derivedTrust('executions', key);
const leases = createLeaseProofs(key);
const guard = { bundle, services: ['executions', 'catalog'] as const, leases };
const {
  ExecutionsServiceDefinition,
  ClaimAgentTasksRequest,
  ClaimAgentTasksResponse,
  ResolveExecutionTokenRequest,
} = executionsRpc;
const { CatalogServiceDefinition, ReadBlueprintFileRequest, FileChunk } = catalogRpc;

const undo: (() => unknown)[] = [];
let authority: Authority;
let root: string;
beforeAll(async () => {
  authority = await createAuthority('internal', systemClock.now());
  root = mkdtempSync(join(tmpdir(), 'passage-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function credentialOf(workerId: string): CallerCredential {
  const pair = newWorkerKey();
  const certificate = signCertificate(registrar, { workerId, publicKey: pair.publicKey });
  return { tokenFor: workerTokens(pair, certificate), ready: async () => undefined };
}

/** Executions and catalog; each answer says who asked. */
const handlersOf = (names: object, mine: Record<string, unknown>): never =>
  Object.fromEntries(
    Object.keys(names).map((name) => [
      name,
      mine[name] ??
        (async () => {
          throw new AppError('not_found_error', 'not part of this test');
        }),
    ]),
  ) as never;
const executions = handlersOf(ExecutionsServiceDefinition.methods, {
  claimAgentTasks: async (_request: unknown, { caller }: ServedCall) => ({
    leases: [],
    lost: [caller!.workerId],
  }),
  resolveExecutionToken: async (_request: unknown, { caller }: ServedCall) => ({
    executionId: caller!.name,
    instances: [],
  }),
});
const catalog = handlersOf(CatalogServiceDefinition.methods, {
  readBlueprintFile: async function* (_request: unknown, { caller }: ServedCall) {
    for (const n of [1, 2, 3]) yield { data: Buffer.from(`${caller!.workerId} ${n}`) };
  },
});

const claimBy = (as: CallerCredential, workerId: string): PassedCall => ({
  service: 'executions',
  definition: ExecutionsServiceDefinition,
  method: ExecutionsServiceDefinition.methods.claimAgentTasks,
  body: ClaimAgentTasksRequest.encode(ClaimAgentTasksRequest.fromPartial({ workerId })).finish(),
  as,
  lease: '',
  deadlineMs: 5_000,
  signal: new AbortController().signal,
});
const whoIn = (answer: Uint8Array): string => ClaimAgentTasksResponse.decode(answer).lost[0]!;

async function overGrpc(tls?: { server: TlsSource; client: TlsSource }) {
  const server = createRpcServer({ log: silentLog, guard, tls: tls?.server });
  server.serve(ExecutionsServiceDefinition, executions);
  server.serve(CatalogServiceDefinition, catalog);
  const host = tls ? 'localhost' : '127.0.0.1';
  const address = `${host}:${await server.listen('127.0.0.1', 0)}`;
  const connector = createGrpcConnector({
    addresses: { executions: address, catalog: address },
    log: silentLog,
    credential: serviceCredential(derivedTrust('gateway', key).identity),
    tls: tls?.client,
  });
  undo.push(() => server.close(500), connector.close);
  return connector;
}
function inProcess(): RpcPassage {
  const local = createLocalRpc();
  local.serve('executions', ExecutionsServiceDefinition, executions);
  local.serve('catalog', CatalogServiceDefinition, catalog);
  return createGuardedPassage(local, { guard, log: silentLog });
}

const [a, b] = [agentWorkerId('t/a'), agentWorkerId('t/b')];

describe.each([
  ['over gRPC', async () => (await overGrpc()).passage],
  ['within a process', async () => inProcess()],
])('calls for others %s', (_where, passageOf) => {
  test('show the token of the one who asks, and he cannot name another', async () => {
    const passage = await passageOf();
    const as = credentialOf(a);
    expect(whoIn(await passage.unary(claimBy(as, a)))).toBe(a);
    await expect(passage.unary(claimBy(as, b))).rejects.toMatchObject({ code: 'forbidden_error' });
  });

  test('a credential without a token is waited for, no longer than the deadline', async () => {
    const passage = await passageOf();
    const none = { tokenFor: () => null, ready: () => new Promise<void>(() => undefined) };
    await expect(passage.unary({ ...claimBy(none, a), deadlineMs: 50 })).rejects.toMatchObject({
      code: 'service_unavailable_error',
    });
  });

  test('bytes that are no request are bad input, not a fault', async () => {
    const passage = await passageOf();
    const as = credentialOf(a);
    // After some calls they share a stream, as nearly all calls do.
    for (const _ of [1, 2, 3]) await passage.unary(claimBy(as, a));
    const garbage = { ...claimBy(as, a), body: Buffer.from([0xff, 0xff, 0xff]) };
    await expect(passage.unary(garbage)).rejects.toMatchObject({ code: 'bad_parameters_error' });
  });

  test('streamed answers come part by part, under the lease', async () => {
    const passage = await passageOf();
    const held = {
      tenant: 't',
      executionId: 'e',
      taskId: 'k',
      attempt: 1,
      deploymentId: 'd',
      blueprintId: 'b',
    };
    const lease = leases.prove({ ...held, workerId: a, inputsDigest: '', username: 'u' }, 60_000);
    const request = ReadBlueprintFileRequest.fromPartial({ tenant: 't', blueprintId: 'b', path: 'x' });
    const asked: PassedCall = {
      ...claimBy(credentialOf(a), a),
      service: 'catalog',
      definition: CatalogServiceDefinition,
      method: CatalogServiceDefinition.methods.readBlueprintFile,
      body: ReadBlueprintFileRequest.encode(request).finish(),
      lease,
    };
    const parts: string[] = [];
    for await (const part of passage.stream(asked))
      parts.push(Buffer.from(FileChunk.decode(part).data).toString());
    expect(parts).toEqual([`${a} 1`, `${a} 2`, `${a} 3`]);
    const without = passage.stream({ ...asked, lease: '' });
    await expect(without[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'forbidden_error' });
  });
});

test('calls of many agents and own calls share one stream, and none is taken for another', async () => {
  const connector = await overGrpc();
  const own = connector.client(ExecutionsServiceDefinition, 'executions');
  const agents = Array.from({ length: 20 }, (_, i) => agentWorkerId(`t/${i}`));
  const credentials = new Map(agents.map((id) => [id, credentialOf(id)]));
  await own.resolveExecutionToken(ResolveExecutionTokenRequest.fromPartial({}));
  const calls = Array.from({ length: 200 }, async (_, i) => {
    const id = agents[i % agents.length]!;
    const [who, mine] = await Promise.all([
      connector.passage.unary(claimBy(credentials.get(id)!, id)),
      own.resolveExecutionToken({}),
    ]);
    return [whoIn(who) === id, mine.executionId];
  });
  for (const seen of await Promise.all(calls)) expect(seen).toEqual([true, 'gateway']);
});

describe('with internal TLS', () => {
  async function source(name: string): Promise<TlsSource> {
    const issued = await authority.issue({ names: [name], nowMs: systemClock.now() });
    const made = createTlsSource(writeIssued(join(root, name), issued, authority.cert), { log: silentLog });
    undo.push(() => made.close());
    return made;
  }

  test.each([
    ['gateway', a, true],
    ['gateway', 'worker-1', false],
    ['worker', a, false],
    ['catalog', a, false],
  ])('the certificate of %s and the token of %s: %p', async (certified, workerId, isGood) => {
    const { passage } = await overGrpc({
      server: await source('localhost'),
      client: await source(certified),
    });
    const call = passage.unary(claimBy(credentialOf(workerId), workerId));
    if (isGood) expect(whoIn(await call)).toBe(workerId);
    else await expect(call).rejects.toMatchObject({ code: 'unauthorized_error' });
  });
});
