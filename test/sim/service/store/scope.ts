import type { Envelope } from '@baton/contracts';
import type { MemoryTx } from '../database';

/** Replaces the transaction scope of packages/postgres. */

export type Scope = never;
export type AnyTx = MemoryTx;
export type AnyQuery = MemoryTx;

export const isInTransaction = (): boolean => false;

export function sendAfterCommit(tx: AnyTx, messages: readonly Envelope[]): void {
  tx.messages.push(...messages);
}

export function afterCommit(): never {
  throw new Error('the engine has no work after a commit of its own');
}

export const takeAudit = (): null => null;
export const newScope = afterCommit;
export const insideScope = afterCommit;
