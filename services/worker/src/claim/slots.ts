/**
 * Slots for operations, shared between tenants. A task keeps its slot until its outcome has been answered, so the number of
 * outcomes is bounded too. A tenant's share is its part of all slots by weight, among the tenants that hold or want a slot here
 * and at least one more. The reserve is kept for tenants that hold less than their share, so that the first operations of another
 * tenant find a slot at once. Beyond their shares, tenants take free slots; no running operation is stopped for the shares.
 */
export interface Slots {
  readonly free: number;
  /** Returns how many of the free slots the tenant may take now. */
  freeFor(tenant?: string): number;
  /** Returns whether the tenant holds less than its share, so that the next slot is owed to it. */
  isOwed(tenant: string): boolean;
  /** Takes one slot; waits in line for it. False: `signal` aborted first. */
  take(signal: AbortSignal, tenant?: string): Promise<boolean>;
  /**
   * Takes up to `wanted` slots that the tenant may have now; returns their number. It does not overtake waiting callers of the
   * same tenant.
   */
  takeSome(wanted: number, tenant?: string): number;
  /** Returns how many of `count` slots that the tenant is about to release it may fill again: those not owed to waiting tenants. */
  keepable(count: number, tenant?: string): number;
  give(count: number, tenant?: string): void;
}

export interface Sharing {
  /** Slots that only tenants below their share may take. */
  reserve: number;
  weightOf(tenant: string): number;
}

const UNSHARED: Sharing = { reserve: 0, weightOf: () => 1 };

interface Account {
  held: number;
  line: (() => void)[];
  /** Slots that its turns have earned and not used; kept only while the tenant waits in line. */
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

/** Records the slots that tenants hold, the waiting callers, and the slots that each tenant may take. */
interface Ledger {
  readonly free: number;
  /** Accounts of tenants that hold slots or wait in line, in the order of their turns. */
  readonly accounts: Map<string, Account>;
  of(tenant: string): Account;
  /** Deletes the account of a tenant that neither holds a slot nor waits in line. */
  tidy(tenant: string): void;
  /** Returns the number of slots that the tenant lacks up to its share. */
  owedTo(tenant: string): number;
  /** Returns the number of slots that the tenant holds beyond its share. */
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
    // At least one part is left for another tenant, which may come at any time.
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

/** Lets waiting callers in by deficit round robin: each turn earns a tenant its weight in slots. */
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
      // Its next turn comes after those of all other tenants.
      accounts.delete(tenant);
      accounts.set(tenant, account);
    }
  }
}

/** Waits in line. The code that calls the waiting entry has already taken the slot for it. False: `signal` aborted first. */
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
