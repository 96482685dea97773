import { AsyncLocalStorage } from 'node:async_hooks';
import type { Envelope } from '@baton/contracts';
import type { Kysely, Transaction } from 'kysely';
import type { DueAudit } from './audit-scope';

// biome-ignore lint/suspicious/noExplicitAny: statements that do not depend on the tables of one service.
export type AnyTx = Transaction<any>;
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyQuery = Kysely<any>;

/**
 * State that belongs to one transaction. `isOpen` turns false at its end, so that work that only inherited the async context
 * (timers, sockets opened by chance) does not count as work inside the transaction.
 */
interface Scope {
  isOpen: boolean;
  afterCommit: (() => void)[];
  /** Messages appended to the outbox; they are sent after the commit. */
  messages: Envelope[];
  /** Keys to pass to the listeners of this database's commits (`onCommitNotes`) after the commit. */
  notes: Set<string>;
  /** Work still to be done at the end of the transaction, by name. */
  atEnd: Map<string, AtEnd>;
  /** Message of the audit log that this transaction has to write; null: none, or written already. */
  audit: DueAudit | null;
}

interface AtEnd {
  work: () => Promise<void>;
  /** Whether the work runs behind all others. */
  isLast: boolean;
}

/** Clients of other layers find the open transaction by this symbol, and refuse network calls inside it. */
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

/**
 * Passes `key` to the listeners of `db.onCommitNotes` after the commit, each key once. For wake-ups of many transactions whose keys
 * the store functions know. A crash between commit and call loses them.
 */
export function noteAfterCommit(tx: AnyTx, key: string): void {
  scopeOf(tx).notes.add(key);
}

/**
 * Runs `work` in the transaction, at its end. When several works of one name wait, only the first runs. `isLast`: runs behind all
 * works without `isLast`, also those added meanwhile.
 */
export function atEndOf(tx: AnyTx, name: string, work: () => Promise<void>, isLast = false): void {
  const { atEnd } = scopeOf(tx);
  if (!atEnd.has(name)) atEnd.set(name, { work, isLast });
}

/** Runs the work that waits for the end of the transaction, also work that this work adds. */
export async function doAtEnd({ atEnd }: Pick<Scope, 'atEnd'>): Promise<void> {
  while (atEnd.size > 0) {
    const waiting = [...atEnd];
    const [name, { work }] = waiting.find(([, one]) => !one.isLast) ?? waiting[0]!;
    atEnd.delete(name);
    await work();
  }
}

/** Passes the messages appended to the outbox to the relay of this database after the commit. */
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
  return { isOpen: true, afterCommit: [], messages: [], notes: new Set(), atEnd: new Map(), audit };
}

/** Takes the message of the audit log that still has to go into `tx`; the caller must append it. */
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
