import { AppError, badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { noSession } from '../../domain/login-refusals';
import { holdSession, holdUser } from '../../store/sessions.sql';
import type { DB as Tables } from '../../store/tables.gen';
import { deviceLoginMachine, TRIES } from '../domain/device-login';
import { type CodeHash, readUserCode, shownCode } from '../domain/user-code';
import { returnTry, takeTry, waitOf } from '../store/code-tries.sql';
import { type DeviceLoginRow, decideLogin, findByUserCode } from '../store/device-logins.sql';

interface Deps {
  db: Db<Tables>;
  codeHash: CodeHash;
}

/** The person who enters a code: a user with the session of a browser. */
export interface Judge {
  userId: number;
  sessionId: string;
}

export interface ShownLogin extends DeviceLoginRow {
  user_code: string;
}

/**
 * Returns the login of a code that somebody entered. Each code is counted before it is looked up, and taken back when it is good; a
 * crash in between makes a good code count as wrong, until the window of the counter ends.
 * @throws AppError bad_parameters_error for a text that is no code; not_found_error for an unknown, used or old code;
 * too_many_requests_error after wrong ones
 */
export async function lookUpLogin(deps: Deps, judge: Judge, text: string): Promise<ShownLogin> {
  const code = requireCode(text);
  const { query } = deps.db;
  if (!(await takeTry(query, judge.userId, TRIES))) throw tooManyWrong(await waitOf(query, judge.userId));
  const row = await findByUserCode(query, deps.codeHash(code));
  if (!row) throw noSuchLogin();
  await returnTry(query, judge.userId);
  return { ...row, user_code: shownCode(code) };
}

/**
 * Lets the program be the user of the session. Its token is made when it asks the next time (`redeem-login.ts`); until then the end of
 * the user's sessions, as by a new password, takes the approval.
 * @throws AppError as `lookUpLogin`; conflict_error when the login is decided; unauthorized_error when the session has ended
 */
export async function approveLogin(deps: Deps, judge: Judge, text: string): Promise<ShownLogin> {
  return decide(deps, judge, text, 'approved');
}

/** Refuses the login. @throws AppError as `approveLogin` */
export async function denyLogin(deps: Deps, judge: Judge, text: string): Promise<ShownLogin> {
  return decide(deps, judge, text, 'denied');
}

async function decide(
  deps: Deps,
  judge: Judge,
  text: string,
  decision: 'approved' | 'denied',
): Promise<ShownLogin> {
  const { state: from, user_code: userCode } = await lookUpLogin(deps, judge, text);
  const to = deviceLoginMachine.next(from, decision);
  if (to === null) throw decided();
  const approvedBy = to === 'approved' ? judge.userId : null;
  return deps.db.tx(async (tx) => {
    // Locks the user first, in the same order as every change of the account.
    const isThere = await holdUser(tx, judge.userId, null);
    if (!isThere || !(await holdSession(tx, judge.sessionId))) throw noSession();
    const row = await decideLogin(tx, deps.codeHash(requireCode(text)), { from, to, approvedBy });
    if (!row) throw decided();
    return { ...row, user_code: userCode };
  });
}

function requireCode(text: string): string {
  const code = readUserCode(text);
  if (code !== null) return code;
  throw badParameter('user_code', 'This is no code of a login', {
    expected: 'eight letters as the program shows them, such as BCDF-GHJK',
  });
}

/** One text for unknown, used and old codes. The text has no part of the code. */
const noSuchLogin = (): AppError =>
  new AppError('not_found_error', 'No program waits with this code; codes end after ten minutes', {
    field: 'user_code',
  });

const decided = (): AppError =>
  new AppError('conflict_error', 'Somebody has decided about this login already', { field: 'user_code' });

const tooManyWrong = (retryAfterS: number): AppError =>
  new AppError('too_many_requests_error', 'Too many wrong codes; wait before the next', {
    scope: 'user',
    limit: TRIES.free,
    what: 'wrong codes in a row',
    expected: `at most ${TRIES.free} wrong codes of one user`,
    retry_after: retryAfterS,
  });
