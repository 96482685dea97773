import { executionsRpc, type ServiceName, workersRpc } from '@baton/contracts';
import { Secret, silentLog } from '@baton/kernel';
import { createGrpcConnector, createRpcServer } from '@baton/rpc';
import {
  type CallerCredential,
  createLeaseProofs,
  derivedTrust,
  newWorkerKey,
  serviceCredential,
  signCertificate,
  workerTokens,
} from '@baton/trust';
import { workHandlers } from './engine/rpc/work.rpc';
import { agentOf, hostedDeployment } from './testing/agents';
import { drive, type EngineSetup, engineSetup } from './testing/engine-setup';
import { forGoodWorkers } from './workers/rpc/for-good-workers';
import { workersRpcHandlers } from './workers/rpc/workers.rpc';
import { createWorkerRegistry } from './workers/worker-registry';

/** Attacks on the ids of agents, over gRPC as the services speak it: the certificate of the caller proves its id. */

const key = new Secret('the internal key of this test');
const { identity, bundle } = derivedTrust('executions', key);

let engine: EngineSetup;
let address = '';
const guard = { bundle, services: ['executions'] as ServiceName[], leases: createLeaseProofs(key) };
const server = createRpcServer({ log: silentLog, guard });

beforeAll(async () => {
  engine = await engineSetup();
  const { db } = engine;
  const registry = createWorkerRegistry(db);
  const joinToken = new Secret('join');
  const workers = workersRpcHandlers({ db, registry, joinToken, identity: () => identity });
  const work = workHandlers(engine.deps, { hub: undefined as never, nowMs: () => 0 });
  server.serve(workersRpc.WorkersServiceDefinition, workers);
  server.serve(executionsRpc.ExecutionsServiceDefinition, {
    ...unused,
    ...forGoodWorkers(work, registry),
  } as never);
  address = `127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
}, 60_000);
afterAll(async () => {
  await server.close(1_000);
  await engine?.stop();
});

const { begin, phaseIs } = drive(() => engine);

/** Methods that no agent calls. */
const unused = Object.fromEntries(
  Object.keys(executionsRpc.ExecutionsServiceDefinition.methods).map((name) => [name, async () => ({})]),
);

/** Calls `work` with clients that show this credential. */
async function as<T>(credential: CallerCredential, work: (of: ReturnType<typeof clientsOf>) => Promise<T>) {
  const rpc = createGrpcConnector({ addresses: { executions: address }, log: silentLog, credential });
  return await work(clientsOf(rpc)).finally(() => rpc.close());
}

const clientsOf = (rpc: ReturnType<typeof createGrpcConnector>) => ({
  workers: rpc.client(workersRpc.WorkersServiceDefinition, 'executions'),
  executions: rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions'),
});

const gateway = serviceCredential(derivedTrust('gateway', key).identity);

/** Registers an agent as the gateway does; returns the credential of its stream. */
async function streamOf(workerId: string): Promise<CallerCredential> {
  const pair = newWorkerKey();
  const { certificate } = await as(gateway, ({ workers }) =>
    workers.registerAgent({ workerId, publicKey: pair.publicKey }),
  );
  return { tokenFor: workerTokens(pair, certificate), ready: async () => undefined };
}

function worker(workerId: string): CallerCredential {
  const pair = newWorkerKey();
  const certificate = signCertificate(identity, { workerId, publicKey: pair.publicKey });
  return { tokenFor: workerTokens(pair, certificate), ready: async () => undefined };
}

const FORBIDDEN = { code: 'forbidden_error' };
const ask = (credential: CallerCredential, workerId: string) =>
  as(credential, ({ executions }) =>
    executions.claimAgentTasks({ workerId, room: 4, isNewStream: true, held: [] }),
  );

test('a stream claims as its own agent and as nobody else', async () => {
  engine.peer.deployments.set('grpc', hostedDeployment(['va', 'vb']));
  const id = await begin('grpc', 'install');
  await phaseIs(id, 'running');
  const [a, b] = [agentOf('va_1'), agentOf('vb_1')];
  const stream = await streamOf(a);
  await expect(ask(stream, b)).rejects.toMatchObject(FORBIDDEN);
  await expect(ask(stream, 'w1')).rejects.toMatchObject(FORBIDDEN);
  await expect(ask(worker('w1'), a)).rejects.toMatchObject(FORBIDDEN);
  await expect(
    as(worker('w1'), ({ executions }) =>
      executions.claimTask({ workerId: a, executionId: id, taskId: '', room: 4 }),
    ),
  ).rejects.toMatchObject(FORBIDDEN);
  expect((await ask(stream, a)).leases).toHaveLength(1);
});

test('only the gateway makes agents', async () => {
  const request = { workerId: agentOf('vc_1'), publicKey: newWorkerKey().publicKey };
  for (const caller of [worker('w1'), serviceCredential(derivedTrust('deployments', key).identity)])
    await expect(as(caller, ({ workers }) => workers.registerAgent(request))).rejects.toMatchObject(
      FORBIDDEN,
    );
  await expect(streamOf('w1')).rejects.toMatchObject({ code: 'bad_parameters_error' });
});
