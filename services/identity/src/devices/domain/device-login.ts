/** A login that a program asks for and a person decides about (RFC 8628). Its bounds, and its states. */
import { defineMachine } from '@baton/kernel';

/** Life of a login. `expires_at` ends it for every statement; the loop `purge-device-logins` deletes what is left. */
export const LOGIN_MS = 10 * 60_000;
/** Seconds that a program waits between two requests for its token, at first. */
export const INTERVAL_S = 5;
/** A request is early when it comes more than this before its time: networks are not even. */
export const EARLY_MS = 1_000;
/** What `slow_down` adds to the interval (RFC 8628, section 3.5), and the longest interval. */
export const SLOWER_S = 5;
export const LONGEST_INTERVAL_S = 60;

/** Most logins that one address has open at once, and that all have. */
export const MOST_OF_ADDRESS = 20;
export const MOST_OPEN = 5_000;

/** How wrong user codes of one user are slowed down: after the free ones each doubles the wait. */
export const TRIES = { free: 5, windowMs: 15 * 60_000, firstWaitMs: 2_000, longestWaitMs: 10 * 60_000 };

export type DeviceLoginState = 'pending' | 'approved' | 'denied';

/** An approved login ends with its row: the token is made in the transaction that deletes it. */
export const deviceLoginMachine = defineMachine<DeviceLoginState, 'approved' | 'denied'>({
  name: 'device login',
  initial: 'pending',
  terminal: ['approved', 'denied'],
  on: { pending: { approved: 'approved', denied: 'denied' }, approved: {}, denied: {} },
});

/** Description of the token, for the list of tokens: which program, from where, when (UTC). */
export const tokenDescription = (clientName: string, address: string, askedAt: string): string =>
  `device login: ${clientName}, from ${address || 'an unknown address'}, ${askedAt.slice(0, 16).replace('T', ' ')} UTC`;
