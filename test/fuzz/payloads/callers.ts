/** Authorized callers: their messages reach the handlers. */
import { type RpcRule, rpcRules, type ServiceName, workersRpc } from '@baton/contracts';
import { Secret, silentLog } from '@baton/kernel';
import { createGrpcConnector } from '@baton/rpc';
import {
  createLeaseProofs,
  derivedTrust,
  type HeldLease,
  newWorkerKey,
  serviceCredential,
  workerTokens,
} from '@baton/trust';
import { type Fleet, INTERNAL_KEY, JOIN_TOKEN } from '../../harness/fleet';
import type { Message } from './wire';

const key = new Secret(INTERNAL_KEY);
/** A certificate is valid for a minute. */
const RENEW_MS = 20_000;
const LEASE_MS = 60_000;

export interface Callers {
  /**
   * Returns headers of a call to `audience`, and `message` in a form that this caller may send; null: nobody may call the method.
   */
  prepare(path: string, audience: ServiceName, message: Message, chance: number): Promise<Prepared | null>;
  close(): void;
}

interface Prepared {
  headers: Record<string, string>;
  message: Message;
}

/** Creates the callers. `lease`: the lease that the worker among them holds. */
export function callersOf(fleet: Fleet, lease: HeldLease): Callers {
  const workerKey = newWorkerKey();
  const rpc = createGrpcConnector({ addresses: fleet.rpc, log: silentLog });
  const workers = rpc.client(workersRpc.WorkersServiceDefinition, 'executions');
  const proofs = createLeaseProofs(key);
  let certified = { atMs: Number.NEGATIVE_INFINITY, tokenFor: (_: ServiceName): string => '' };
  const worker = async (audience: ServiceName): Promise<string> => {
    if (performance.now() - certified.atMs > RENEW_MS) {
      const asked = { workerId: lease.workerId, publicKey: workerKey.publicKey, joinToken: JOIN_TOKEN };
      const { certificate } = await workers.registerWorker(asked);
      certified = { atMs: performance.now(), tokenFor: workerTokens(workerKey, certificate) };
    }
    return certified.tokenFor(audience);
  };
  const credentials = new Map<string, ReturnType<typeof serviceCredential>>();
  const service = (name: ServiceName, audience: ServiceName): string => {
    if (!credentials.has(name)) credentials.set(name, serviceCredential(derivedTrust(name, key).identity));
    return credentials.get(name)!.tokenFor(audience)!;
  };
  return {
    prepare: async (path, audience, message, chance): Promise<Prepared | null> => {
      const rule = rpcRules.get(path);
      if (!rule) return { headers: { 'x-baton-caller': service('gateway', audience) }, message };
      if (rule.callers.length === 0) return null;
      const caller = rule.callers[Math.floor(chance * rule.callers.length)]!;
      if (caller === 'newcomer') return { headers: {}, message: { ...message, joinToken: JOIN_TOKEN } };
      if (caller !== 'worker') return { headers: { 'x-baton-caller': service(caller, audience) }, message };
      const headers = {
        'x-baton-caller': await worker(audience),
        'x-baton-lease': proofs.prove(lease, LEASE_MS),
      };
      return { headers, message: asHeld(rule, lease, message) };
    },
    close: () => rpc.close(),
  };
}

/** Returns the message with the values that the table of rules requires of a worker. */
function asHeld({ worker }: RpcRule, lease: HeldLease, message: Message): Message {
  const own = structuredClone(message);
  for (const [path, of] of Object.entries(worker!.same)) setAt(own, path.split('.'), lease[of]);
  for (const [path, value] of Object.entries(worker!.fixed ?? {}))
    setAt(own, path.split('.'), value as string);
  if (worker!.folder) own.folder = { area: 'deployments', tenant: lease.tenant, folder: lease.deploymentId };
  if (worker!.isInputsBound) own.hasFunctions = false;
  return own;
}

function setAt(message: Message, [name, ...rest]: string[], value: Message[string]): void {
  if (rest.length === 0) {
    message[name!] = value;
    return;
  }
  const inner = (message[name!] ?? {}) as Message;
  message[name!] = inner;
  setAt(inner, rest, value);
}
