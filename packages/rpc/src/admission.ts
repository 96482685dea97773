/**
 * Admits or refuses calls: it checks the caller by its token, the method by the table of callers, and a worker's lease by its
 * proof.
 */
import {
  addressOfWorker,
  type LeaseField,
  type RpcRule,
  rpcRules,
  type ServiceName,
  type WorkerRule,
} from '@baton/contracts';
import { AppError, type Clock, type Log, systemClock } from '@baton/kernel';
import {
  type Caller,
  createCallVerifier,
  digestOfInputs,
  type HeldLease,
  type LeaseProofs,
  type TrustBundle,
  Untrusted,
} from '@baton/trust';

/** Settings of the access check of calls. */
export interface RpcGuard {
  bundle: TrustBundle;
  /** Services of this process: tokens made for one of these are accepted. */
  services: readonly ServiceName[];
  /** Checks proofs of leases. */
  leases: LeaseProofs;
}

/** An admitted caller, and the lease for which a worker acts. */
export interface Admitted {
  caller: Caller;
  lease: HeldLease | null;
}

export interface Admission {
  /**
   * Returns the caller of a token. `certified`: the services that the caller's certificate speaks for; null without TLS. @throws
   * AppError unauthorized_error
   */
  callerOf(token: string | undefined, certified?: readonly string[] | null): Caller;
  /** Checks whether the caller may call the method with this request. @throws AppError forbidden_error, unauthorized_error */
  admit(path: string, caller: Caller, lease: string | undefined, request: unknown): Admitted;
}

/**
 * Whether a process without a credential may call the method: such calls do not wait for a credential, and show the one there is.
 */
export const isForNewcomers = (path: string): boolean =>
  rpcRules.get(path)?.callers.includes('newcomer') === true;

/** Shortest time between two logs of a refusal of one caller and method. */
const LOG_EVERY_MS = 60_000;
const MAX_LOGGED = 1_000;
const newcomer: Caller = Object.freeze({ name: 'newcomer', workerId: '' });

export function createAdmission(guard: RpcGuard, log: Log, clock: Clock = systemClock): Admission {
  const verifier = createCallVerifier({ audiences: guard.services, bundle: guard.bundle, clock });
  const warn = atMostOften(log, clock);
  return {
    callerOf(token, certified = null) {
      try {
        const caller = token === undefined || token === '' ? newcomer : verifier.callerOf(token);
        checkCertificate(caller, certified);
        return caller;
      } catch (error) {
        const reason = (error as Error).message;
        warn('unknown', reason, { reason }, 'rpc caller not known');
        throw new AppError('unauthorized_error', 'The caller cannot be verified', {}, { cause: error });
      }
    },
    admit(path, caller, lease, request) {
      const decided = decide(guard.leases, rpcRules.get(path), caller, lease, request);
      if (typeof decided !== 'string') return decided;
      const reason = decided;
      const { name, workerId } = caller;
      warn(`${name} ${workerId}`, path, { caller: name, workerId, method: path, reason }, 'rpc refused');
      if (name === 'newcomer') throw new AppError('unauthorized_error', `${path}: the caller shows no token`);
      throw new AppError('forbidden_error', `${path}: not open to ${name}: ${reason}`);
    },
  };
}

/** The service whose certificate the caller needs: calls of agents come through the gateway, and a newcomer is a worker. */
function certificateOf({ name, workerId }: Caller): string {
  if (name === 'newcomer') return 'worker';
  return name === 'worker' && addressOfWorker(workerId) !== null ? 'gateway' : name;
}

/** @throws Untrusted when the certificate is not the one of the token's owner */
function checkCertificate(caller: Caller, certified: readonly string[] | null): void {
  const expected = certificateOf(caller);
  if (certified && !certified.includes(expected))
    throw new Untrusted(`its certificate does not speak for ${expected}`);
}

/** Returns the admitted caller, or the reason of the refusal. */
function decide(
  leases: LeaseProofs,
  rule: RpcRule | undefined,
  caller: Caller,
  lease: string | undefined,
  request: unknown,
): Admitted | string {
  if (!rule?.callers.includes(caller.name)) return 'it is none of its callers';
  if (caller.name !== 'worker') return { caller, lease: null };
  if (!rule.worker) return 'the table says nothing about workers';
  try {
    const held = heldLease(leases, rule.worker, lease);
    checkWorker(rule.worker, caller, held, request as Fields);
    return { caller, lease: held };
  } catch (error) {
    if (error instanceof Untrusted) return error.message;
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function heldLease(leases: LeaseProofs, rule: WorkerRule, proof: string | undefined): HeldLease | null {
  if (rule.lease === 'none') return null;
  if (!proof) throw new Untrusted('it shows no lease');
  return leases.read(proof, rule.lease === 'once');
}

/** Checks that the request of a worker fits its lease. @throws Untrusted */
function checkWorker(rule: WorkerRule, caller: Caller, lease: HeldLease | null, request: Fields): void {
  if (lease && lease.workerId !== caller.workerId) throw new Untrusted('the lease is that of another worker');
  for (const [field, of] of Object.entries(rule.same))
    if (fieldOf(request, field) !== heldValue(of, caller, lease))
      throw new Untrusted(`${field} is not its own`);
  for (const [field, value] of Object.entries(rule.fixed ?? {}))
    if (!isFixed(fieldOf(request, field), value)) throw new Untrusted(`${field} is not for workers`);
  if (rule.instances && addressOfWorker(caller.workerId) !== null)
    checkInstances(rule.instances, lease, request);
  if (rule.folder) checkFolder(rule.folder, lease!, request.folder as Fields | undefined);
  if (rule.isInputsBound && request.hasFunctions === true) {
    if (lease!.inputsDigest !== digestOfInputs(String(request.inputsJson)))
      throw new Untrusted('inputsJson is not that of the lease');
  }
}

/** The host of an agent may be hostile, and other hosts of its deployment are none of its business. @throws Untrusted */
function checkInstances(fields: readonly string[], lease: HeldLease | null, request: Fields): void {
  for (const field of fields) {
    const id = String(fieldOf(request, field) ?? '');
    if (id !== '' && !lease?.instances?.includes(id)) throw new Untrusted(`${field} is not its own`);
  }
}

function fieldOf(request: Fields, path: string): unknown {
  let value: unknown = request;
  for (const name of path.split('.')) value = (value as Fields | undefined)?.[name];
  return value;
}

const heldValue = (field: LeaseField, caller: Caller, lease: HeldLease | null): unknown =>
  field === 'workerId' ? caller.workerId : lease?.[field];

const isFixed = (given: unknown, expected: unknown): boolean =>
  Array.isArray(expected) ? Array.isArray(given) && given.length === 0 : given === expected;

/** Checks that the folder belongs to the deployment of the lease, or may be read. @throws Untrusted */
function checkFolder(use: 'read' | 'write', lease: HeldLease, folder: Fields | undefined): void {
  const { area, tenant, folder: name } = folder ?? {};
  if (area === 'deployments' && tenant === lease.tenant && name === lease.deploymentId && name !== '') return;
  if (use === 'read' && area === 'global-resources') return;
  if (use === 'read' && area === 'tenant-resources' && tenant === lease.tenant) return;
  throw new Untrusted('the folder is not its own');
}

/** Warns once a minute for each pair; the next line has the number of warnings left out. */
function atMostOften(log: Log, clock: Clock) {
  const seen = new Map<string, { atMs: number; left: number }>();
  return (who: string, what: string, fields: object, text: string): void => {
    const name = `${who} ${what}`;
    const now = clock.monotonic();
    const last = seen.get(name);
    if (last && now - last.atMs < LOG_EVERY_MS) return void last.left++;
    if (seen.size >= MAX_LOGGED) seen.clear();
    seen.set(name, { atMs: now, left: 0 });
    log.warn({ ...fields, ...(last && last.left > 0 && { repeated: last.left }) }, text);
  };
}
