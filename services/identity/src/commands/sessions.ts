import { Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { badCode, noSession, rejected } from '../domain/login-refusals';
import { bootstrapAdminId } from '../domain/principal';
import { newToken } from '../domain/token';
import { deleteOldStates } from '../providers/store/provider-users.sql';
import {
  deleteCodesOf,
  deleteEndedSessions,
  deleteOldCodes,
  deleteSession,
  holdUser,
  insertCode,
  insertSession,
  takeCode,
  trimSessions,
} from '../store/sessions.sql';
import type { DB as Tables } from '../store/tables.gen';
import { announceChange } from './announce';

const CODE_MS = 15 * 60_000;
const PURGE_BATCH = 1_000;

interface Deps {
  db: Db<Tables>;
  sessionLifeMs: number;
}

/** Proof of identity of the user: the hash that the password fits, or the code of a sign-in link. */
export type SignInProof = { passwordHash: string } | { codeId: string };

export interface OpenedSession {
  id: string;
  /** Value for the cookie; it cannot be read again later. */
  secret: Secret;
}

/**
 * Creates a new session, whatever session the browser had before. A code opens only one session, however many requests use it at
 * once: the transaction that deletes its row creates the session, so a crash leaves both or none.
 * @throws AppError unauthorized_error when the code, the password or the account has changed meanwhile.
 */
export async function openSession(deps: Deps, userId: number, proof: SignInProof): Promise<OpenedSession> {
  const { id, value, secretHash } = newToken('bses');
  const row = { id, userId, secretHash, lifeMs: deps.sessionLifeMs };
  await deps.db.tx(async (tx) => {
    // Locks the user first, in the same order as every change of the account.
    const passwordHash = 'passwordHash' in proof ? proof.passwordHash : null;
    if (!(await holdUser(tx, userId, passwordHash))) throw rejected();
    if ('codeId' in proof && !(await takeCode(tx, proof.codeId))) throw badCode();
    await insertSession(tx, row);
    await trimSessions(tx, userId);
  });
  return { id, secret: new Secret(value) };
}

/** Ends a session; the message makes the gateways forget it. @throws AppError unauthorized_error when it has ended already. */
export async function closeSession({ db }: Pick<Deps, 'db'>, id: string, username: string): Promise<void> {
  await db.tx(async (tx) => {
    if (!(await deleteSession(tx, id))) throw noSession();
    await announceChange(tx, username);
  });
}

/**
 * Returns the code of a link that signs in the administrator of this manager once, within 15 minutes; earlier codes become invalid.
 * It is for the process that starts the manager: no request can ask for a code. Null when the administrator may not log in.
 */
export async function createSignInCode({ db }: Pick<Deps, 'db'>): Promise<Secret | null> {
  const { id, value, secretHash } = newToken('bcode');
  const isMade = await db.tx(async (tx) => {
    await deleteCodesOf(tx, bootstrapAdminId);
    return insertCode(tx, { id, userId: bootstrapAdminId, secretHash, lifeMs: CODE_MS });
  });
  return isMade ? new Secret(value) : null;
}

/**
 * Deletes ended sessions, expired codes and ended sign-ins at providers, at most 1,000 of each. `again`: there may be more. Any number of replicas may do it.
 */
export async function purgeSessions(deps: {
  db: Db<Tables>;
  sessionIdleMs: number;
}): Promise<{ again: boolean }> {
  const { db, sessionIdleMs } = deps;
  const sessions = await deleteEndedSessions(db.query, sessionIdleMs, PURGE_BATCH);
  const codes = await deleteOldCodes(db.query, PURGE_BATCH);
  const states = await deleteOldStates(db.query, PURGE_BATCH);
  return { again: [sessions, codes, states].includes(PURGE_BATCH) };
}
