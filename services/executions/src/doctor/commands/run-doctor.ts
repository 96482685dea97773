import { isAppError } from '@baton/kernel';
import type { Ports } from '../../ports';
import type { DoctorPart } from '../adapters/doctor-parts';
import type { Broken } from '../store/doctor.sql';
import { type DoctorCheck, type DoctorChecksDeps, doctorChecks } from './doctor-checks';

export type RunDoctorDeps = Pick<Ports, 'log'> & DoctorChecksDeps;

export interface Finding {
  check: string;
  id: string;
  about: string;
  /** What the repair does, or did. */
  repair: string;
  is_repaired: boolean;
  /** Reason why the repair failed. */
  error: string | null;
}

/**
 * Finds damage of the stored state that an operator would otherwise search for in the database, and repairs it on request. With
 * correct code it finds nothing. Safe beside running replicas, and safe to repeat; at most 100 findings of a kind at once.
 * `parts`: other services, which examine their own tables.
 */
export async function runDoctor(
  deps: RunDoctorDeps,
  isRepairing: boolean,
  parts: readonly DoctorPart[] = [],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of doctorChecks) {
    for (const { id, about } of await findOf(deps, check, findings)) {
      const finding: Finding = {
        check: check.name,
        id,
        about,
        repair: check.repair,
        is_repaired: false,
        error: null,
      };
      findings.push(finding);
      if (!isRepairing) continue;
      try {
        await check.mend(deps, id);
        finding.is_repaired = true;
        deps.log.warn({ check: check.name, id, about }, 'doctor: repaired');
      } catch (err) {
        finding.error = (err as Error).message;
        deps.log.error({ err, check: check.name, id }, 'doctor: the repair failed');
      }
    }
  }
  for (const part of parts) findings.push(...(await findingsOf(part, isRepairing)));
  return findings;
}

async function findingsOf(part: DoctorPart, isRepairing: boolean): Promise<Finding[]> {
  try {
    const found = await part.examine(isRepairing);
    return found.map(({ isRepaired, error, ...one }) => ({
      ...one,
      is_repaired: isRepaired,
      error: error === '' ? null : error,
    }));
  } catch (err) {
    if (!isAppError(err)) throw err;
    return [unknown(part.service, err)];
  }
}

const unknown = (check: string, err: Error): Finding => ({
  check,
  id: '',
  about: `it cannot be looked for now: ${err.message}`,
  repair: 'look again',
  is_repaired: false,
  error: null,
});

/**
 * Returns the findings of a check. A check that calls an unavailable service becomes a finding itself, and the other checks
 * continue.
 */
async function findOf(deps: RunDoctorDeps, check: DoctorCheck, findings: Finding[]): Promise<Broken[]> {
  try {
    return await check.find(deps);
  } catch (err) {
    if (!isAppError(err)) throw err;
    findings.push(unknown(check.name, err));
    return [];
  }
}
