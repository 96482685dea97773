// Calls each method as each caller, over real gRPC (separately and by a call stream) and through the relay of the standalone: the
// table of callers decides.
import {
  agentsRpc,
  callStreamRpc,
  catalogRpc,
  clusterStatusRpc,
  deploymentsRpc,
  doctorRpc,
  executionsRpc,
  identityRpc,
  importsRpc,
  type RpcCaller,
  rpcRules,
  type ServiceName,
  secretsRpc,
  snapshotsRpc,
  tenantsRpc,
  workersRpc,
} from '@baton/contracts';
import { isAppError, Secret, silentLog, systemClock } from '@baton/kernel';
import {
  type CallerCredential,
  createLeaseProofs,
  derivedTrust,
  type HeldLease,
  identityOwners,
  newWorkerKey,
  serviceCredential,
  signCertificate,
  workerTokens,
} from '@baton/trust';
import { createAdmission } from './admission';
import { methodPath, type RpcConnector, type ServedCall, type ServiceDefinition } from './definition';
import {
  createGrpcConnector,
  createLocalRpc,
  createRelayedRpc,
  createRpcRelay,
  createRpcServer,
  type RpcChannel,
  withLease,
} from './index';

const key = new Secret('the internal key of this test');
const TARGET: ServiceName = 'catalog';
const definitions: ServiceDefinition[] = [
  agentsRpc,
  catalogRpc,
  clusterStatusRpc,
  deploymentsRpc,
  doctorRpc,
  executionsRpc,
  identityRpc,
  importsRpc,
  secretsRpc,
  snapshotsRpc,
  tenantsRpc,
  workersRpc,
].flatMap((file) =>
  Object.entries(file).flatMap(([name, value]) =>
    name.endsWith('ServiceDefinition') ? [value as unknown as ServiceDefinition] : [],
  ),
);
const methods = definitions.flatMap((definition) =>
  Object.entries(definition.methods).map(([name, method]) => ({
    definition,
    name,
    method,
    path: methodPath(definition, method),
  })),
);
const callers: readonly RpcCaller[] = [...identityOwners, 'worker', 'newcomer'];

const lease: HeldLease = {
  workerId: 'w1',
  tenant: 't1',
  executionId: 'e1',
  taskId: 'k1',
  attempt: 3,
  deploymentId: 'd1',
  blueprintId: 'b1',
  inputsDigest: '',
  username: 'ann',
};
const proofs = createLeaseProofs(key);
const guard = { bundle: derivedTrust(TARGET, key).bundle, services: [TARGET], leases: proofs };

/** A request with which a worker stays within that lease. */
const own = {
  ...lease,
  run: { workerId: 'w1' },
  folder: { area: 'deployments', tenant: 't1', folder: 'd1' },
  username: '',
  isAdministrator: false,
  withPlan: false,
  force: false,
  service: 'worker',
  instanceId: 'w1',
  others: [],
};
const requestFor = (path: string) => (path.endsWith('/OpenOperation') ? { ...own, username: 'ann' } : own);

function workerCredential(
  workerId: string,
  signer = derivedTrust('executions', key).identity,
): CallerCredential {
  const pair = newWorkerKey();
  const tokens = workerTokens(pair, signCertificate(signer, { workerId, publicKey: pair.publicKey }));
  return { tokenFor: tokens, ready: async () => undefined };
}

function credentialOf(caller: RpcCaller): CallerCredential | undefined {
  if (caller === 'newcomer') return undefined;
  if (caller === 'worker') return workerCredential('w1');
  return serviceCredential(derivedTrust(caller, key).identity);
}

/** Every method answers; a call that is not refused counts as admitted. */
function handlersOf(definition: ServiceDefinition): never {
  const handler = (streams: boolean) =>
    streams
      ? async function* () {
          yield {};
        }
      : async () => ({});
  return Object.fromEntries(
    Object.entries(definition.methods).map(([name, { responseStream, responseType }]) => {
      const answer = handler(responseStream);
      return [
        name,
        responseStream
          ? async function* () {
              yield responseType.fromPartial({});
            }
          : async () => responseType.fromPartial((await (answer as () => Promise<object>)()) as object),
      ];
    }),
  ) as never;
}

async function isLetIn(rpc: RpcConnector, { definition, name, method, path }: (typeof methods)[number]) {
  const client = rpc.client(definition, TARGET) as Record<string, (request: object) => unknown>;
  try {
    const answer = withLease({ proof: proofs.prove(lease, 15_000) }, () => client[name]!(requestFor(path)));
    if (method.responseStream) for await (const _ of answer as AsyncIterable<unknown>) break;
    else await answer;
    return true;
  } catch (error) {
    if (isAppError(error, 'forbidden_error') || isAppError(error, 'unauthorized_error')) return false;
    throw error;
  }
}

const allowed = (path: string, caller: RpcCaller) => rpcRules.get(path)!.callers.includes(caller);

test('every method has a row, and every row a method', () => {
  const open = methodPath(
    callStreamRpc.CallStreamServiceDefinition as unknown as ServiceDefinition,
    callStreamRpc.CallStreamServiceDefinition.methods.open,
  );
  expect(rpcRules.has(open)).toBe(false);
  expect([...rpcRules.keys()].sort()).toEqual(methods.map(({ path }) => path).sort());
  for (const [path, { callers: of, worker }] of rpcRules)
    expect([path, of.includes('worker')]).toEqual([path, worker !== undefined]);
});

describe('over gRPC', () => {
  const server = createRpcServer({ log: silentLog, guard });
  let address = '';
  beforeAll(async () => {
    for (const definition of definitions) server.serve(definition, handlersOf(definition));
    address = `127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  });
  afterAll(() => server.close(1_000));
  const connect = (credential: CallerCredential | undefined) =>
    createGrpcConnector({ addresses: { [TARGET]: address }, log: silentLog, credential });

  test.each(callers)('%s gets where the table lets it, alone and by a stream', async (caller) => {
    const rpc = connect(credentialOf(caller));
    const wrong: string[] = [];
    // The first round runs as separate calls; from its first answer on a stream opens, which the second round uses.
    for (const round of ['alone', 'by stream'])
      for (const one of methods)
        if ((await isLetIn(rpc, one)) !== allowed(one.path, caller)) wrong.push(`${round} ${one.path}`);
    rpc.close();
    expect(wrong).toEqual([]);
  });

  const openOperation = methods.find(({ path }) => path.endsWith('/OpenOperation'))!;
  const open = (credential: CallerCredential, request: object, proof: string) => {
    const rpc = connect(credential);
    const client = rpc.client(openOperation.definition, TARGET) as Record<
      string,
      (request: object) => Promise<unknown>
    >;
    return withLease({ proof }, () => client.openOperation!(request))
      .then(
        () => 'let in',
        (error) => (error as { code: string }).code,
      )
      .finally(() => rpc.close());
  };
  const good = { ...own, username: 'ann' };
  const live = proofs.prove(lease, 300_000);

  test('a worker acts for the lease that it holds, and for nobody else', async () => {
    const worker = workerCredential('w1');
    expect(await open(worker, good, live)).toBe('let in');
    expect(await open(worker, { ...good, tenant: 't2' }, live)).toBe('forbidden_error');
    expect(await open(worker, { ...good, username: 'admin' }, live)).toBe('forbidden_error');
    expect(await open(worker, { ...good, deploymentId: 'd2' }, live)).toBe('forbidden_error');
    expect(await open(worker, { ...good, executionId: 'e2' }, live)).toBe('forbidden_error');
    expect(await open(worker, good, '')).toBe('forbidden_error');
    expect(await open(worker, good, `${live.slice(0, -2)}xx`)).toBe('forbidden_error');
    expect(await open(workerCredential('w2'), good, live)).toBe('forbidden_error');
    // Inputs that name other secrets than those of the lease.
    const inputs = { hasFunctions: true, inputsJson: '{"a":{"get_secret":"other"}}' };
    expect(await open(worker, { ...good, ...inputs }, live)).toBe('forbidden_error');
    const past = createLeaseProofs(key, { ...systemClock, now: () => systemClock.now() - 60_000 });
    expect(await open(worker, good, past.prove(lease, 15_000))).toBe('forbidden_error');
    const forged = createLeaseProofs(new Secret('what a worker could make up'));
    expect(await open(worker, good, forged.prove(lease, 15_000))).toBe('forbidden_error');
  });

  test('an agent names only the instances that its operation sees', () => {
    const admission = createAdmission(guard, silentLog);
    const agent = { name: 'worker', workerId: 'agent:t1/host_1' } as const;
    const held = { ...lease, workerId: agent.workerId, instances: ['app_1', 'db_1'] };
    const tried = (method: string, request: object, of: HeldLease = held) => {
      const path = `/baton.deployments.v1.DeploymentsService/${method}`;
      try {
        admission.admit(path, agent, proofs.prove(of, 15_000), {
          ...own,
          workerId: agent.workerId,
          ...request,
        });
        return 'let in';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    const app = { username: 'ann', nodeInstanceId: 'app_1' };
    expect(tried('OpenOperation', { ...app, relatedInstanceId: 'db_1' })).toBe('let in');
    expect(tried('OpenOperation', { ...app, relatedInstanceId: '' })).toBe('let in');
    expect(tried('OpenOperation', { ...app, relatedInstanceId: 'web_1' })).toBe('forbidden_error');
    expect(tried('OpenOperation', { ...app, nodeInstanceId: 'web_1' })).toBe('forbidden_error');
    expect(tried('UpdateNodeInstance', { nodeInstanceId: 'app_1' })).toBe('let in');
    expect(tried('UpdateNodeInstance', { nodeInstanceId: 'web_1' })).toBe('forbidden_error');
    // A lease that names none opens none; a worker of the manager is not held to this.
    expect(tried('OpenOperation', app, { ...held, instances: [] })).toBe('forbidden_error');
    expect(() =>
      admission.admit(
        '/baton.deployments.v1.DeploymentsService/OpenOperation',
        { name: 'worker', workerId: 'w1' },
        live,
        { ...own, ...app },
      ),
    ).not.toThrow();
  });

  test('a worker reads the plan of its own blueprint, and no plan beside what else it may read of others', async () => {
    const admission = createAdmission(guard, silentLog);
    const worker = { name: 'worker', workerId: 'w1' } as const;
    const read = (method: string, request: object) => {
      try {
        admission.admit(`/baton.catalog.v1.CatalogService/${method}`, worker, live, request);
        return 'let in';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(read('ReadPlan', own)).toBe('let in');
    expect(read('ReadPlan', { ...own, blueprintId: 'b2' })).toBe('forbidden_error');
    expect(read('GetBlueprint', own)).toBe('let in');
    expect(read('GetBlueprint', { ...own, withPlan: true })).toBe('forbidden_error');
    // Catalog checks blueprint and plugin: it knows the imports of the lease's plan.
    expect(read('GetBlueprint', { ...own, blueprintId: 'b2' })).toBe('let in');
    expect(read('ReadBlueprintFile', { ...own, tenant: 't2' })).toBe('forbidden_error');
  });

  test('nobody but executions makes workers, and a token is good for one service', async () => {
    const other = derivedTrust('catalog', key).identity;
    expect(await open(workerCredential('w1', other), good, live)).toBe('unauthorized_error');
    const elsewhere = serviceCredential(derivedTrust('executions', key).identity).tokenFor('secrets')!;
    const admission = createAdmission(guard, silentLog);
    expect(() => admission.callerOf(elsewhere)).toThrow(
      expect.objectContaining({ code: 'unauthorized_error' }),
    );
  });

  test('a certificate that is over opens nothing but executions', async () => {
    const minuteAgo = { ...systemClock, now: () => systemClock.now() - 66_000 };
    const pair = newWorkerKey();
    const { identity } = derivedTrust('executions', key);
    const certificate = signCertificate(identity, { workerId: 'w1', publicKey: pair.publicKey }, minuteAgo);
    const tokens = workerTokens(pair, certificate);
    const at = (service: ServiceName) =>
      createAdmission({ ...guard, services: [service] }, silentLog).callerOf(tokens(service));
    expect(() => at('catalog')).toThrow(expect.objectContaining({ code: 'unauthorized_error' }));
    expect(at('executions')).toMatchObject({ name: 'worker', workerId: 'w1' });
  });
});

/** Both ends of a channel in one process. */
function channelPair(): readonly [RpcChannel, RpcChannel] {
  const receivers: ((message: unknown) => void)[][] = [[], []];
  const end = (mine: number, others: number): RpcChannel => ({
    isOpen: () => true,
    send: (message) =>
      setImmediate(() => {
        for (const receive of receivers[others]!) receive(JSON.parse(JSON.stringify(message)));
      }),
    onMessage: (receive) => void receivers[mine]!.push(receive),
    onClose: () => undefined,
    close: () => undefined,
  });
  return [end(0, 1), end(1, 0)];
}

describe('through the relay', () => {
  const unary = methods.filter(({ method }) => !method.responseStream);
  function relayed(credential: CallerCredential | undefined) {
    const local = createLocalRpc();
    const relay = createRpcRelay(local, { guard });
    for (const definition of definitions) {
      local.serve(TARGET, definition, handlersOf(definition));
      relay.serve(TARGET, definition);
    }
    const [near, far] = channelPair();
    relay.attach(far);
    return createRelayedRpc(near, { client: local.client, close: () => undefined }, credential);
  }

  test('a registered worker gets where the table lets workers, a child that is not yet only to its registration', async () => {
    for (const caller of ['worker', 'newcomer'] as const) {
      const rpc = relayed(credentialOf(caller));
      const wrong: string[] = [];
      for (const one of unary)
        if ((await isLetIn(rpc, one)) !== allowed(one.path, caller)) wrong.push(one.path);
      expect([caller, wrong]).toEqual([caller, []]);
    }
  });

  test('services of one process keep to the table too', async () => {
    const local = createLocalRpc();
    const seen: (ServedCall['caller'] | undefined)[] = [];
    local.serve(TARGET, secretsRpc.SecretsServiceDefinition, {
      getSecretValues: async (_request, call) => {
        seen.push(call.caller);
        return { valuesJson: {}, missing: [], hidden: [] };
      },
    });
    const as = (caller: ServiceName) => local.as(caller).client(secretsRpc.SecretsServiceDefinition, TARGET);
    await as('deployments').getSecretValues({});
    expect(seen).toMatchObject([{ name: 'deployments' }]);
    expect(() => as('catalog').getSecretValues({})).toThrow(
      expect.objectContaining({ code: 'forbidden_error' }),
    );
  });
});
