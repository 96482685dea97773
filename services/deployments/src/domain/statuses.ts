/** Statuses of deployments (reference/rest-api.md 6.4). */

export type SummaryStatus = 'good' | 'in_progress' | 'requires_attention';
export type LatestStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';

const RANK: Record<SummaryStatus, number> = { good: 0, in_progress: 1, requires_attention: 2 };

/** Returns the display status of the latest execution; null for scheduled or none. */
export function latestStatus(engineStatus: string | null): LatestStatus | null {
  switch (engineStatus) {
    case null:
    case 'scheduled':
      return null;
    case 'terminated':
      return 'completed';
    case 'failed':
    case 'cancelled':
      return engineStatus;
    default:
      return 'in_progress';
  }
}

/** Returns the status of the deployment without its descendants. A cancelled latest execution alone does not require attention. */
export function ownStatus(engineStatus: string | null, installation: string): SummaryStatus {
  const latest = latestStatus(engineStatus);
  if (latest === 'in_progress') return 'in_progress';
  return latest === 'failed' || installation !== 'active' ? 'requires_attention' : 'good';
}

/**
 * Whether the execution `one` is later than `other`: ids of this manager are UUIDv7 and sort by time; those of another manager, whose
 * deployments were imported, are before all of them (function execution_order of the database).
 */
export function isLaterExecution(one: string, other: string): boolean {
  const isOwn = (id: string): boolean => !/^[0-9a-f]{8}-[0-9a-f]{4}-[0-689a-f]/.test(id);
  return isOwn(one) === isOwn(other) ? one > other : isOwn(one);
}

function worst(statuses: readonly (SummaryStatus | null)[]): SummaryStatus | null {
  return statuses.reduce((a, b) => (a === null ? b : b !== null && RANK[b] > RANK[a] ? b : a), null);
}

/** A member of a family: a deployment and its place among its descendants. */
export interface FamilyMember {
  key: number;
  own: SummaryStatus;
  isEnvironment: boolean;
  /** Keys of direct children; all of them are members as well. */
  children: readonly number[];
}

export interface Combined {
  key: number;
  status: SummaryStatus;
  servicesStatus: SummaryStatus | null;
  environmentsStatus: SummaryStatus | null;
  /** Counts over all descendants; one that is reached by two paths counts once. */
  servicesCount: number;
  environmentsCount: number;
}

/**
 * Returns the combined status and counts of `keys`: the worst of a deployment's own status and of its descendants'. The parent
 * graph has no cycles (the command that adds an edge refuses them); a cycle would only end the descent early.
 */
export function combineStatuses(members: readonly FamilyMember[], keys: readonly number[]): Combined[] {
  const byKey = new Map(members.map((m) => [m.key, m]));
  const below = new Map<number, Set<number>>();
  const descendants = (key: number): Set<number> => {
    const known = below.get(key);
    if (known) return known;
    const found = new Set<number>();
    below.set(key, found);
    for (const child of byKey.get(key)?.children ?? []) {
      found.add(child);
      for (const further of descendants(child)) found.add(further);
    }
    return found;
  };
  const statusOf = (key: number): SummaryStatus =>
    worst([byKey.get(key)?.own ?? null, ...[...descendants(key)].map((k) => byKey.get(k)?.own ?? null)]) ??
    'good';
  return keys.map((key) => {
    const family = [...descendants(key)].map((k) => byKey.get(k)).filter((m) => m !== undefined);
    const environments = family.filter((m) => m.isEnvironment);
    const services = family.filter((m) => !m.isEnvironment);
    return {
      key,
      status: statusOf(key),
      servicesStatus: worst(services.map((m) => statusOf(m.key))),
      environmentsStatus: worst(environments.map((m) => statusOf(m.key))),
      servicesCount: services.length,
      environmentsCount: environments.length,
    };
  });
}
