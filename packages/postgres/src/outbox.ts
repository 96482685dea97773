import { changeMade, type Envelope, type MessageType } from '@baton/contracts';
import { newId } from '@baton/kernel';
import type { DueAudit } from './audit-scope';
import { prepared } from './prepared';
import { type AnyTx, sendAfterCommit, takeAudit } from './transaction-scope';

/** Tenant, key and trace of a message; see Envelope. */
export interface MessageAbout {
  tenant: string;
  key: string;
  traceparent?: string;
  causationId?: string;
}

export interface OutgoingMessage<T = unknown> {
  message: MessageType<T>;
  about: MessageAbout;
  payload: T;
}

// The database sets the time, to the millisecond. One statement inserts any number of messages.
const insert = {
  name: 'outbox-append',
  text: `insert into outbox (id, envelope)
    select (e->>'id')::uuid,
           e || jsonb_build_object('time', to_char(app_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from jsonb_array_elements($1::jsonb) e
    returning envelope`,
};

export function auditMessage({ tenant, payload }: DueAudit): OutgoingMessage {
  return { message: changeMade, about: { tenant, key: payload.requestId }, payload } as OutgoingMessage;
}

export const outbox = {
  /**
   * Appends a message to the outbox: the only way to emit. The message is sent if and only if `tx` commits, at least once, in no
   * promised order.
   * @throws ZodError when the payload does not fit its schema.
   */
  async append<T>(tx: AnyTx, message: MessageType<T>, about: MessageAbout, payload: T): Promise<void> {
    await outbox.appendAll(tx, [{ message, about, payload } as OutgoingMessage]);
  },

  /** Appends the audit message that is still pending in this transaction. */
  async appendAudit(tx: AnyTx): Promise<void> {
    const audit = takeAudit(tx);
    if (audit) await outbox.appendAll(tx, [auditMessage(audit)]);
  },

  /** Appends many messages in one statement. */
  async appendAll(tx: AnyTx, outgoing: readonly OutgoingMessage[]): Promise<void> {
    if (outgoing.length === 0) return;
    // The audit message goes in the same statement where there is one.
    const audit = takeAudit(tx);
    const all = audit ? [...outgoing, auditMessage(audit)] : outgoing;
    const rows = await prepared<{ envelope: Envelope }>(tx, insert, [JSON.stringify(all.map(unsent))]);
    sendAfterCommit(
      tx,
      rows.map(({ envelope }) => envelope),
    );
  },
};

/**
 * Makes the envelope as the outbox takes it; the statement that inserts it sets its time. For hot statements that write the outbox
 * together with their own rows (`Db.statement`).
 * @throws ZodError when the payload does not fit its schema.
 */
export function unsent({ message, about, payload }: OutgoingMessage): Omit<Envelope, 'time'> {
  return { id: newId(), type: message.type, ...about, payload: message.schema.parse(payload) };
}

/** One outgoing message, its payload typed by its message type; for `outbox.appendAll`. */
export function outgoing<T>(message: MessageType<T>, about: MessageAbout, payload: T): OutgoingMessage {
  return { message, about, payload } as OutgoingMessage;
}
