import { AsyncLocalStorage } from 'node:async_hooks';
import type { Envelope } from '@baton/contracts';
import type { Kysely, Transaction } from 'kysely';
import type { DueAudit } from './audit-scope';

// biome-ignore lint/suspicious/noExplicitAny: statements that do not depend on the tables of one service.
export type AnyTx = Transaction<any>;
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyQuery = Kysely<any>;

/**
 * What goes with one transaction. `isOpen` turns false at its end, so that work which only inherited the async
 * context (timers, sockets opened by chance) is not taken for work inside the transaction.
 */
interface Scope {
  isOpen: boolean;
  afterCommit: (() => void)[];
  /** Appended to the outbox: they leave after the commit. */
  messages: Envelope[];
  /** Message of the audit log that this transaction has to carry; null: none, or carried already. */
  audit: DueAudit | null;
}

/** Clients of other layers find it by this symbol and refuse network calls while a transaction is open. */
const KEY = Symbol.for('baton.tx');
const shared = globalThis as { [KEY]?: AsyncLocalStorage<Scope> };
const storage: AsyncLocalStorage<Scope> = (shared[KEY] ??= new AsyncLocalStorage<Scope>());
const scopes = new WeakMap<AnyTx, Scope>();

/** Whether the caller runs inside a `db.tx`. */
export function isInTransaction(): boolean {
  return storage.getStore()?.isOpen === true;
}

/**
 * Registers in-process work for after the commit: wake-ups only, because a crash between commit and call loses it.
 * Nothing happens when the transaction rolls back.
 */
export function afterCommit(tx: AnyTx, work: () => void): void {
  scopeOf(tx).afterCommit.push(work);
}

/** Tells the relay of this database after the commit what was appended to the outbox. */
export function sendAfterCommit(tx: AnyTx, messages: readonly Envelope[]): void {
  scopeOf(tx).messages.push(...messages);
}

function scopeOf(tx: AnyTx): Scope {
  const scope = scopes.get(tx);
  if (!scope) throw new Error('not a transaction of db.tx');
  return scope;
}

/** Runs `work` as the body of `tx`. */
export async function insideScope<T>(tx: AnyTx, scope: Scope, work: () => Promise<T>): Promise<T> {
  scopes.set(tx, scope);
  try {
    return await storage.run(scope, work);
  } finally {
    scope.isOpen = false;
  }
}

export function newScope(audit: DueAudit | null = null): Scope {
  return { isOpen: true, afterCommit: [], messages: [], audit };
}

/** The message of the audit log that still has to go into `tx`; whoever takes it appends it. */
export function takeAudit(tx: AnyTx): DueAudit | null {
  const scope = scopeOf(tx);
  const due = scope.audit;
  if (due) {
    scope.audit = null;
    scope.afterCommit.push(due.recorded);
  }
  return due;
}
export type { Scope };
