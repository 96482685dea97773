import { executionsRpc, secretsRpc, workersRpc } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { createGrpcConnector } from '@baton/rpc';
import { type CallerCredential, newWorkerKey, workerTokens } from '@baton/trust';
import { JOIN_TOKEN } from '../../harness/fleet';
import { gatewayKey, principalBy } from '../forge';
import { control, held, type Rig, type Row } from '../row';

const THIRTY_YEARS_S = 30 * 365 * 86_400;

/** Registers an attacker with a worker's credentials: the join token, and its own key. @throws Error when it cannot register */
async function registered({ fleet }: Rig) {
  const workerKey = newWorkerKey();
  const o = { addresses: fleet.rpc, log: silentLog };
  const before = createGrpcConnector(o);
  const { certificate } = await before
    .client(workersRpc.WorkersServiceDefinition, 'executions')
    .registerWorker({ workerId: 'mallory', publicKey: workerKey.publicKey, joinToken: JOIN_TOKEN });
  before.close();
  const credential: CallerCredential = {
    tokenFor: workerTokens(workerKey, certificate),
    ready: async () => undefined,
  };
  return { workerKey, rpc: createGrpcConnector({ ...o, credential }) };
}

/** Services mode: a worker, and a neighbour of the secrets service. */
async function atTheService(rig: Rig) {
  const { fleet, victim, secret } = rig;
  const { workerKey, rpc } = await registered(rig);
  const url = `${fleet.http.secrets}/api/v3.1/secrets/theirs`;
  const read = async (headers: Record<string, string>) => {
    const answer = await fetch(url, { headers });
    return (await answer.text()).includes(secret);
  };
  const own = gatewayKey();
  control(await read(principalBy(own, victim.tenant)), 'the gateway itself did not get the secret');
  const worker = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  await worker.heartbeat({ workerId: 'mallory' });
  const got: Record<string, boolean> = {
    'signed by a worker': await read(principalBy(workerKey.signing, victim.tenant)),
    'for thirty years': await read(principalBy(own, victim.tenant, { lifeS: THIRTY_YEARS_S })),
    'for another service': await read(principalBy(own, victim.tenant, { audience: 'catalog' })),
    'no principal': await read({}),
  };
  const asked = { tenant: victim.tenant, keys: ['theirs'], username: 'admin', isAdministrator: true };
  const answered = await rpc
    .client(secretsRpc.SecretsServiceDefinition, 'secrets')
    .getSecretValues(asked)
    .then(
      ({ valuesJson }) => JSON.stringify(valuesJson),
      (error: Error) => error.message,
    );
  got['rpc of a worker'] = answered.includes(secret);
  rpc.close();
  return got;
}

/** All modes: an outsider at the gateway. */
async function atTheGateway({ ask, user, victim, secret }: Rig) {
  const path = '/api/v3.1/secrets/theirs';
  control((await ask(path, victim)).text.includes(secret), 'the owner did not get the secret');
  const headers = principalBy(newWorkerKey().signing, victim.tenant);
  return {
    'header from outside': (await ask(path, undefined, { headers })).text.includes(secret),
    'header of a user': (await ask(path, user, { headers })).text.includes(secret),
  };
}

export const row: Row = {
  name: '2',
  title: "a principal that a worker signed, or for 30 years, asks for another tenant's secret",
  modes: ['standalone', 'services'],
  async run(rig) {
    const got = { ...(await atTheGateway(rig)), ...(rig.mode === 'services' ? await atTheService(rig) : {}) };
    const open = Object.entries(got).flatMap(([how, isRead]) => (isRead ? [how] : []));
    return held(
      open.length === 0,
      open.length === 0 ? `${Object.keys(got).length} ways refused` : `read: ${open}`,
    );
  },
};
