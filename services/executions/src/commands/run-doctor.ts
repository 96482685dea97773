import type { EngineDeps } from '../engine/deps';
import { doctorChecks } from './doctor-checks';

export interface Finding {
  check: string;
  id: string;
  about: string;
  /** What the repair does, or did. */
  repair: string;
  is_repaired: boolean;
  /** Why the repair failed. */
  error: string | null;
}

/**
 * Looks for what an operator would otherwise look for in the database, and repairs it when asked. With correct code it
 * finds nothing. Safe beside running replicas, and to repeat; at most 100 findings of a kind at once.
 */
export async function runDoctor(deps: EngineDeps, isRepairing: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of doctorChecks) {
    for (const { id, about } of await check.find(deps)) {
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
  return findings;
}
