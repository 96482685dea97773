/** Lets a call in, or not: the caller by its token, the method by the table, what a worker acts for by the proof of its lease. */
import { type LeaseField, type RpcRule, rpcRules, type ServiceName, type WorkerRule } from '@baton/contracts';
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

/** Who may call here, and how that is known. */
export interface RpcGuard {
  bundle: TrustBundle;
  /** Tokens that were made for these are taken: the services of this process. */
  services: readonly ServiceName[];
  /** Checks proofs of leases. */
  leases: LeaseProofs;
}

/** Who was let in, and the lease that a worker acts for. */
export interface Admitted {
  caller: Caller;
  lease: HeldLease | null;
}

export interface Admission {
  /** `certified`: the services that the caller's certificate speaks for; null without TLS. @throws AppError unauthorized_error */
  callerOf(token: string | undefined, certified?: readonly string[] | null): Caller;
  /** @throws AppError forbidden_error, unauthorized_error */
  admit(path: string, caller: Caller, lease: string | undefined, request: unknown): Admitted;
}

/** Whether a process that has no credential yet may call it: such calls wait for none, and show what there is. */
export const isForNewcomers = (path: string): boolean =>
  rpcRules.get(path)?.callers.includes('newcomer') === true;

/** A refusal is logged at most so often for one caller and method. */
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

/** Who joins is going to be a worker. @throws Untrusted when the certificate is that of another one than the token */
function checkCertificate({ name }: Caller, certified: readonly string[] | null): void {
  const expected = name === 'newcomer' ? 'worker' : name;
  if (certified && !certified.includes(expected))
    throw new Untrusted(`its certificate does not speak for ${expected}`);
}

/** Who is let in, or why nobody is. */
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

/** @throws Untrusted */
function checkWorker(rule: WorkerRule, caller: Caller, lease: HeldLease | null, request: Fields): void {
  if (lease && lease.workerId !== caller.workerId) throw new Untrusted('the lease is that of another worker');
  for (const [field, of] of Object.entries(rule.same))
    if (fieldOf(request, field) !== heldValue(of, caller, lease))
      throw new Untrusted(`${field} is not its own`);
  for (const [field, value] of Object.entries(rule.fixed ?? {}))
    if (!isFixed(fieldOf(request, field), value)) throw new Untrusted(`${field} is not for workers`);
  if (rule.folder) checkFolder(rule.folder, lease!, request.folder as Fields | undefined);
  if (rule.isInputsBound && request.hasFunctions === true) {
    if (lease!.inputsDigest !== digestOfInputs(String(request.inputsJson)))
      throw new Untrusted('inputsJson is not that of the lease');
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

/** @throws Untrusted */
function checkFolder(use: 'read' | 'write', lease: HeldLease, folder: Fields | undefined): void {
  const { area, tenant, folder: name } = folder ?? {};
  if (area === 'deployments' && tenant === lease.tenant && name === lease.deploymentId && name !== '') return;
  if (use === 'read' && area === 'global-resources') return;
  if (use === 'read' && area === 'tenant-resources' && tenant === lease.tenant) return;
  throw new Untrusted('the folder is not its own');
}

/** Warns once a minute for each pair; the count of those left out comes with the next line. */
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
