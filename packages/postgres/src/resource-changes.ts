import {
  foldedChange,
  MAX_CHANGES,
  type MessageType,
  type ResourceChange,
  type ResourceChanges,
} from '@baton/contracts';
import { type OutgoingMessage, outbox, outgoing } from './outbox';
import { type AnyTx, atEndOf } from './transaction-scope';

/** From this number of changes of one tenant in one transaction, streams are told only that there were changes. */
const MAX_TOLD = 1_000;

interface Told {
  message: MessageType<ResourceChanges>;
  tenant: string;
  changes: Map<string, ResourceChange>;
}

const noted = new WeakMap<AnyTx, Map<string, Told>>();

/**
 * Notes a change, which streams of changes are told if and only if `tx` commits. Several changes of a resource in a transaction
 * become one. All changes go to the outbox in one statement at the end of the transaction, together with the entry of the audit
 * log.
 */
export function noteResource(
  tx: AnyTx,
  message: MessageType<ResourceChanges>,
  tenant: string,
  change: ResourceChange,
): void {
  const all = noted.get(tx) ?? new Map<string, Told>();
  noted.set(tx, all);
  const about = `${message.type} ${tenant}`;
  const told = all.get(about) ?? { message, tenant, changes: new Map<string, ResourceChange>() };
  all.set(about, told);
  const key = `${change.kind} ${change.id}`;
  told.changes.set(key, foldedChange(told.changes.get(key), change));
  const send = async (): Promise<void> => {
    noted.delete(tx);
    await outbox.appendAll(tx, [...all.values()].flatMap(messagesOf));
  };
  atEndOf(tx, 'resource-changes', send, true);
}

function messagesOf({ message, tenant, changes }: Told): OutgoingMessage[] {
  const about = { tenant, key: tenant };
  if (changes.size > MAX_TOLD) return [outgoing(message, about, { changes: [], isIncomplete: true })];
  const all = [...changes.values()];
  const count = Math.ceil(all.length / MAX_CHANGES);
  return Array.from({ length: count }, (_, i) =>
    outgoing(message, about, { changes: all.slice(i * MAX_CHANGES, (i + 1) * MAX_CHANGES) }),
  );
}
