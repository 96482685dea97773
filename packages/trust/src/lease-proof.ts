/**
 * Lease proofs: they prove to services other than executions that a worker holds the lease of an operation. Executions makes a
 * proof with the lease and renews it with the lease. A proof is worthless for another worker. It names the tenant and execution for
 * which the worker acts, so that services need not trust the worker's requests.
 */
import { createHash } from 'node:crypto';
import { type Clock, type Secret, systemClock } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import { createMac } from './mac';
import { SKEW_S, Untrusted } from './signed-token';

/** A lease in the form that other services see. */
export interface HeldLease {
  workerId: string;
  tenant: string;
  executionId: string;
  taskId: string;
  attempt: number;
  /** Empty for executions without a deployment. */
  deploymentId: string;
  blueprintId: string;
  /** Digest of inputs with functions (`digestOfInputs`); empty where there are no functions to evaluate. */
  inputsDigest: string;
  /** The user who started the execution. */
  username: string;
  /** Node instances that the operation sees: all that an agent may name. Absent in proofs of executions of before 0.3. */
  instances?: readonly string[];
}

export interface LeaseProofs {
  /** Returns a proof, valid for `lifeMs` from now. */
  prove(lease: HeldLease, lifeMs: number): string;
  /** Returns the lease of a proof that has not expired; `anyTime` accepts an expired one. @throws Untrusted */
  read(proof: string, anyTime?: boolean): HeldLease;
}

/** Digest of the JSON text of inputs. */
export const digestOfInputs = (json: string): string =>
  createHash('sha256').update(json).digest('base64url').slice(0, 22);

type Packed = (string | number | readonly string[])[];

export function createLeaseProofs(internalKey: Secret, clock: Clock = systemClock): LeaseProofs {
  const mac = createMac(internalKey, 'lease');
  const known = new LRUCache<string, { lease: HeldLease; endMs: number }>({ max: 5_000 });
  return {
    prove(lease, lifeMs) {
      const packed: Packed = [
        clock.now() + lifeMs,
        lease.workerId,
        lease.tenant,
        lease.executionId,
        lease.taskId,
        lease.attempt,
        lease.deploymentId,
        lease.blueprintId,
        lease.inputsDigest,
        lease.username,
        ...(lease.instances ? [lease.instances] : []),
      ];
      const text = Buffer.from(JSON.stringify(packed)).toString('base64url');
      return `${text}.${mac.of(text)}`;
    },
    read(proof, anyTime = false) {
      let hit = known.get(proof);
      if (!hit) {
        hit = opened(proof, mac.isOf);
        known.set(proof, hit);
      }
      if (!anyTime && hit.endMs + SKEW_S * 1000 <= clock.now()) throw new Untrusted('the lease has ended');
      return hit.lease;
    },
  };
}

function opened(
  proof: string,
  isOf: (mac: string, text: string) => boolean,
): { lease: HeldLease; endMs: number } {
  const [text, mac, more] = proof.split('.');
  if (!text || !mac || more !== undefined || !isOf(mac, text))
    throw new Untrusted('it is no proof of a lease');
  const [
    endMs,
    workerId,
    tenant,
    executionId,
    taskId,
    attempt,
    deploymentId,
    blueprintId,
    inputsDigest,
    username,
    instances,
  ] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as [
    number,
    string,
    string,
    string,
    string,
    number,
    string,
    string,
    string,
    string,
    (readonly string[])?,
  ];
  const lease = {
    workerId,
    tenant,
    executionId,
    taskId,
    attempt,
    deploymentId,
    blueprintId,
    inputsDigest,
    username,
    ...(instances && { instances }),
  };
  return { lease: Object.freeze(lease), endMs };
}
