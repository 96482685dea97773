import { type ServiceName, workersRpc } from '@baton/contracts';
import { type Clock, Secret, silentLog, systemClock } from '@baton/kernel';
import { createGrpcConnector, createRpcServer } from '@baton/rpc';
import { createCallVerifier, createLeaseProofs, derivedTrust, signCertificate } from '@baton/trust';
import { createWorkerCredential } from './worker-credential';

const key = new Secret('internal key');
const { identity, bundle } = derivedTrust('executions', key);
const HOUR_MS = 3_600_000;

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** An executions service, which dates certificates with the right time. */
async function registrar(): Promise<string> {
  const server = createRpcServer({
    log: silentLog,
    guard: { bundle, services: ['executions'], leases: createLeaseProofs(key) },
  });
  const certified = ({ workerId, publicKey }: { workerId: string; publicKey: string }) => ({
    certificate: signCertificate(identity, { workerId, publicKey }),
  });
  server.serve(workersRpc.WorkersServiceDefinition, {
    registerWorker: async (asked: { workerId: string; publicKey: string }) => certified(asked),
    renewWorker: async () => {
      throw new Error('not asked for in a third of a life');
    },
    registerAgent: async () => {
      throw new Error('not asked for by workers');
    },
  } as never);
  undo.push(() => server.close(1_000));
  return `127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
}

describe('the wall clock of a worker does not matter', () => {
  const callers = (audience: ServiceName) => createCallVerifier({ audiences: [audience], bundle });

  test.each([
    ['25 h ahead', 25 * HOUR_MS, 0],
    ['1 h behind', -HOUR_MS, 0],
    ['right, then 1 h ahead', 0, HOUR_MS],
    ['right, then 25 h behind', 0, -25 * HOUR_MS],
  ])('%s', async (_of, atStart, jump) => {
    let offset = atStart;
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + offset };
    const credential = createWorkerCredential({
      workerId: 'w1',
      joinToken: new Secret('join'),
      log: silentLog,
      clock,
    });
    const rpc = createGrpcConnector({
      addresses: { executions: await registrar() },
      log: silentLog,
      credential,
    });
    undo.push(() => credential.close(), rpc.close);
    credential.registerBy(rpc);
    await credential.ready();
    const caller = { name: 'worker', workerId: 'w1' };
    expect(callers('executions').callerOf(credential.tokenFor('executions')!)).toEqual(caller);
    offset += jump;
    expect(callers('secrets').callerOf(credential.tokenFor('secrets')!)).toEqual(caller);
    expect(callers('executions').callerOf(credential.tokenFor('executions')!)).toEqual(caller);
  });
});
