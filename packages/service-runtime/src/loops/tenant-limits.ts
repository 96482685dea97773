/** The limits of tenants, as identity gives them: cached by every process that enforces them. */
import { identityRpc, quotaChanged, type TenantLimits, unlimited } from '@baton/contracts';
import { systemClock } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';
import { type SubscriptionPart, subscriptionPart } from '../lifecycle/service-parts';
import type { Loop } from './loops';

/** A stopping service waits this long for the query under way. */
const DEADLINE_MS = 1_000;
/** Longest delay of a change whose message was lost. */
const INTERVAL_MS = 10_000;
/** Interval of the queries after a start, until identity has answered. */
const LOOK_MS = 1_000;

export interface TenantLimitsSource {
  /** The limits in force for the tenant; nothing is limited until identity has answered once. */
  of(tenant: string): Readonly<TenantLimits>;
  /** Whether `limit` is set for any tenant: without it, no search for tenants at their limit is needed. */
  isAnySet(limit: keyof TenantLimits): boolean;
  /** Tenant -> weight, of tenants for which an administrator has set one. */
  weights(): Readonly<Record<string, number>>;
  /** Queries identity; while it does not answer, the last limits stay. */
  refresh(): Promise<void>;
  loop: Loop;
  subscription: SubscriptionPart;
}

/** `onChange` runs after every query that found changed limits. */
export function createTenantLimits(
  rpc: RpcConnector,
  onChange: () => void = () => undefined,
): TenantLimitsSource {
  const client = rpc.client(identityRpc.IdentityServiceDefinition, 'identity');
  let known = read({ defaults: undefined, tenants: {} });
  let said = '';
  let askedAt = Number.NEGATIVE_INFINITY;
  const refresh = async (): Promise<void> => {
    const answer = await client.listLimits({}, { deadlineMs: DEADLINE_MS });
    askedAt = systemClock.monotonic();
    const text = JSON.stringify(answer);
    if (text === said) return;
    said = text;
    known = read(answer);
    onChange();
  };
  return {
    of: (tenant) => known.tenants.get(tenant) ?? known.defaults,
    isAnySet: (limit) => known.set.has(limit),
    weights: () => known.weights,
    refresh,
    loop: {
      name: 'tenant-limits',
      intervalMs: LOOK_MS,
      tickOnce: async () => {
        if (systemClock.monotonic() - askedAt >= INTERVAL_MS) await refresh();
      },
    },
    subscription: subscriptionPart(quotaChanged, refresh),
  };
}

function read({ defaults, tenants }: identityRpc.ListLimitsResponse) {
  const all = limitsOf(defaults);
  const own = new Map(Object.entries(tenants).map(([name, limits]) => [name, limitsOf(limits)]));
  const set = new Set<keyof TenantLimits>();
  const weights: Record<string, number> = {};
  for (const limits of [all, ...own.values()])
    for (const [name, value] of Object.entries(limits))
      if (value !== null) set.add(name as keyof TenantLimits);
  for (const [name, { workerWeight }] of own) if (workerWeight !== null) weights[name] = workerWeight;
  return { defaults: all, tenants: own, set, weights };
}

/** A limit that is absent on the wire is null: unlimited. */
function limitsOf(sent: identityRpc.TenantLimits | undefined): Readonly<TenantLimits> {
  const names = Object.keys(unlimited) as (keyof TenantLimits)[];
  return Object.fromEntries(names.map((name) => [name, sent?.[name] ?? null])) as unknown as TenantLimits;
}
