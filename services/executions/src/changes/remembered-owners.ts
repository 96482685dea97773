import { LRUCache } from 'lru-cache';

/** The facts that decide who may see a deployment. */
export interface Owner {
  createdBy: string;
  visibility: string;
}

/** Requests the owner; null when there is no such deployment. */
export type AskOwner = (tenant: string, deploymentId: string) => Promise<Owner | null>;

const MAX_REMEMBERED = 10_000;
/**
 * Time to live. A deployment that was deleted and created again under its id may have another owner; a message announces that at
 * once.
 */
const REMEMBERED_MS = 30_000;

/** Caches owners of deployments, so that the owner for a running execution is requested only a few times a minute. */
export function rememberedOwners(ask: AskOwner, nowMs: () => number) {
  const known = new LRUCache<string, Owner>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now: nowMs },
  });
  const keyOf = (tenant: string, id: string) => `${tenant} ${id}`;
  const note = (tenant: string, id: string, owner: Owner): void => void known.set(keyOf(tenant, id), owner);
  return {
    note,
    forget: (tenant: string, id: string) => void known.delete(keyOf(tenant, id)),
    /** @throws AppError of the rpc. */
    async of(tenant: string, id: string): Promise<Owner | null> {
      const found = known.get(keyOf(tenant, id));
      if (found) return found;
      const owner = await ask(tenant, id);
      if (owner) note(tenant, id, owner);
      return owner;
    },
  };
}
export type Owners = ReturnType<typeof rememberedOwners>;
