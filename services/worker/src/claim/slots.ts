/**
 * Places for operations, shared between tenants. A task keeps its place until its outcome has been answered, so outcomes are
 * bounded too. A tenant's share is its part of all places by weight, among the tenants that hold or want one here and at least
 * one more: the reserve is kept for whoever holds less than its share, and so the first operations of another tenant find a
 * place at once. Beyond their shares tenants take what is free; nothing that runs is stopped for it.
 */
export interface Slots {
  readonly free: number;
  /** How many of the free places the tenant may take now. */
  freeFor(tenant?: string): number;
  /** It holds less than its share, so it is owed the next place. */
  isOwed(tenant: string): boolean;
  /** Takes one place; waits in line for it. False: `signal` came first. */
  take(signal: AbortSignal, tenant?: string): Promise<boolean>;
  /** Takes up to `wanted` places that the tenant may have now; answers how many. Nobody of its own line is overtaken. */
  takeSome(wanted: number, tenant?: string): number;
  /** How many of `count` places that it is about to give back the tenant may fill again: those that it owes to nobody in line. */
  keepable(count: number, tenant?: string): number;
  give(count: number, tenant?: string): void;
}

export interface Sharing {
  /** Places that only tenants below their share may take. */
  reserve: number;
  weightOf(tenant: string): number;
}

const UNSHARED: Sharing = { reserve: 0, weightOf: () => 1 };

interface Account {
  held: number;
  line: (() => void)[];
  /** Places that its turns have earned and not used; only while it stands in line. */
  deficit: number;
}

export function createSlots(total: number, sharing: Sharing = UNSHARED): Slots {
  const ledger = createLedger(total, sharing);
  const { accounts, freeFor, owedTo } = ledger;
  const hasLine = (tenant: string): boolean => (accounts.get(tenant)?.line.length ?? 0) > 0;
  return {
    get free() {
      return ledger.free;
    },
    freeFor: (tenant = '') => freeFor(tenant),
    isOwed: (tenant) => owedTo(tenant) > 0,
    take: (signal, tenant = '') => {
      if (signal.aborted) return Promise.resolve(false);
      if (hasLine(tenant) || freeFor(tenant) === 0) return standInLine(ledger, signal, tenant);
      ledger.hold(tenant, 1);
      return Promise.resolve(true);
    },
    takeSome: (wanted, tenant = '') => {
      const taken = hasLine(tenant) ? 0 : Math.max(0, Math.min(wanted, freeFor(tenant)));
      if (taken > 0) ledger.hold(tenant, taken);
      return taken;
    },
    keepable: (count, tenant = '') => {
      let wanted = 0;
      for (const [name, { line }] of accounts)
        if (name !== tenant) wanted += Math.min(line.length, owedTo(name));
      return Math.max(0, count - Math.min(wanted, ledger.beyondShare(tenant)));
    },
    give: (count, tenant = '') => {
      ledger.release(tenant, count);
      letIn(ledger, sharing);
    },
  };
}

/** Who holds how many places, who stands in line, and what each tenant may have of the rest. */
interface Ledger {
  readonly free: number;
  /** Of tenants that hold places or stand in line, in the order of their turns. */
  readonly accounts: Map<string, Account>;
  of(tenant: string): Account;
  /** Forgets a tenant that neither holds a place nor stands in line. */
  tidy(tenant: string): void;
  /** Places up to its share that it does not hold. */
  owedTo(tenant: string): number;
  /** Places that it holds beyond its share. */
  beyondShare(tenant: string): number;
  freeFor(tenant: string): number;
  hold(tenant: string, count: number): void;
  release(tenant: string, count: number): void;
}

function createLedger(total: number, { reserve, weightOf }: Sharing): Ledger {
  let free = total;
  const accounts = new Map<string, Account>();
  const of = (tenant: string): Account => {
    const known = accounts.get(tenant);
    if (known) return known;
    const fresh = { held: 0, line: [], deficit: 0 };
    accounts.set(tenant, fresh);
    return fresh;
  };
  const tidy = (tenant: string): void => {
    const known = accounts.get(tenant);
    if (known && known.held === 0 && known.line.length === 0) accounts.delete(tenant);
  };
  const shareOf = (tenant: string): number => {
    const own = weightOf(tenant);
    let others = 0;
    for (const name of accounts.keys()) if (name !== tenant) others += weightOf(name);
    // Somebody else may come at any time.
    return Math.max(1, Math.floor((total * own) / (own + Math.max(1, others))));
  };
  const heldBy = (tenant: string): number => accounts.get(tenant)?.held ?? 0;
  const owedTo = (tenant: string): number => Math.max(0, shareOf(tenant) - heldBy(tenant));
  return {
    get free() {
      return free;
    },
    accounts,
    of,
    tidy,
    owedTo,
    beyondShare: (tenant) => Math.max(0, heldBy(tenant) - shareOf(tenant)),
    freeFor: (tenant) =>
      Math.max(0, Math.min(free, Math.max(free - reserve, reserve === 0 ? free : owedTo(tenant)))),
    hold: (tenant, count) => {
      free -= count;
      of(tenant).held += count;
    },
    release: (tenant, count) => {
      free += count;
      if (count > 0) of(tenant).held -= count;
      tidy(tenant);
    },
  };
}

/** Deficit round robin: each turn earns a tenant its weight in places. */
function letIn(ledger: Ledger, { weightOf }: Sharing): void {
  const { accounts, freeFor } = ledger;
  for (let isMoving = true; isMoving && ledger.free > 0; ) {
    isMoving = false;
    for (const [tenant, account] of [...accounts]) {
      if (account.line.length === 0 || freeFor(tenant) === 0) continue;
      isMoving = true;
      account.deficit += weightOf(tenant);
      for (; account.deficit >= 1 && account.line.length > 0 && freeFor(tenant) > 0; account.deficit--) {
        ledger.hold(tenant, 1);
        account.line.shift()?.();
      }
      if (account.line.length === 0) account.deficit = 0;
      // Its next turn comes after those of all others.
      accounts.delete(tenant);
      accounts.set(tenant, account);
    }
  }
}

/** Whoever calls the one in line has taken the place for it. False: `signal` came first. */
function standInLine(ledger: Ledger, signal: AbortSignal, tenant: string): Promise<boolean> {
  const { line } = ledger.of(tenant);
  return new Promise((resolve) => {
    const leave = (): void => {
      line.splice(line.indexOf(enter), 1);
      ledger.tidy(tenant);
      resolve(false);
    };
    const enter = (): void => {
      signal.removeEventListener('abort', leave);
      resolve(true);
    };
    signal.addEventListener('abort', leave, { once: true });
    line.push(enter);
  });
}
