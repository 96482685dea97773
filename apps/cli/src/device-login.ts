/** Login by a person with a browser elsewhere (RFC 8628): this program shows a code and asks for its token until somebody decides. */
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type AnswerOf, ApiError } from '@baton/client';
import { systemClock } from '@baton/kernel';
import type { CliIo } from './cli-io';
import { exitCodeOf, exitCodes } from './exit-codes';
import { CommandFailure } from './failure';
import type { ClientOf } from './layer/declared-client';
import { plainText } from './plain-text';

type Begun = AnswerOf<'beginDeviceLogin'>;
export type DeviceToken = AnswerOf<'redeemDeviceLogin'>;
type DeviceClient = ClientOf<'beginDeviceLogin' | 'redeemDeviceLogin'>;

/** Longest pause between two requests while the manager is away. */
const LONGEST_PAUSE_S = 60;

/** How this program calls itself on the page; other characters than printable ASCII are refused there. */
export const clientName = (): string => `baton on ${hostname()}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);

/**
 * Shows the code on standard error, and waits until somebody has approved or denied the login.
 * @throws CommandFailure when the login is denied, too old, or ended by Ctrl-C; ApiError; TypeError when the manager is not reached
 */
export async function deviceLogin(io: CliIo, client: DeviceClient): Promise<DeviceToken> {
  const begun = await client.call('beginDeviceLogin', { body: { client_name: clientName() } });
  io.err(plainText(instructions(begun)));
  const interrupt = new AbortController();
  const stopListening = io.onInterrupt(() => interrupt.abort());
  try {
    return await askUntilDecided(client, begun, interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) throw stopped(begun);
    throw error;
  } finally {
    stopListening();
  }
}

const instructions = ({ user_code: code, verification_uri: page, ...begun }: Begun): string => `
Open this page in a browser, on any machine, and sign in:

    ${begun.verification_uri_complete}

Approve the login only if the page shows the code ${code}.
Or open ${page} and enter the code. It is good for ${Math.round(begun.expires_in / 60)} minutes. Ctrl-C ends the wait.

`;

/** Asks at the interval that the manager names. A manager that is away for a while is asked more rarely, until the code has ended. */
async function askUntilDecided(
  client: DeviceClient,
  begun: Begun,
  signal: AbortSignal,
): Promise<DeviceToken> {
  const endMs = systemClock.monotonic() + begun.expires_in * 1000;
  let intervalS = begun.interval;
  while (systemClock.monotonic() < endMs) {
    await pause(intervalS * 1000, undefined, { signal });
    try {
      return await client.call('redeemDeviceLogin', { body: { device_code: begun.device_code }, signal });
    } catch (error) {
      intervalS = nextInterval(error, intervalS);
    }
  }
  throw over();
}

/** Returns the seconds to wait after this refusal. @throws the refusal, or a CommandFailure, when there is nothing to wait for */
function nextInterval(error: unknown, intervalS: number): number {
  if (!(error instanceof ApiError)) {
    if (exitCodeOf(error) !== exitCodes.unreachable) throw error;
    return Math.min(intervalS * 2, LONGEST_PAUSE_S);
  }
  const { interval } = error.details;
  const said = typeof interval === 'number' ? Math.min(Math.max(interval, 1), LONGEST_PAUSE_S) : null;
  switch (error.errorCode) {
    case 'authorization_pending':
      return said ?? intervalS;
    case 'slow_down':
      return said ?? intervalS + 5;
    case 'access_denied':
      throw new CommandFailure('the login was denied', exitCodes.refused, { error_code: 'access_denied' });
    case 'expired_token':
      throw over();
  }
  if (exitCodeOf(error) !== exitCodes.unreachable && error.status !== 429) throw error;
  return Math.min(intervalS * 2, LONGEST_PAUSE_S);
}

const over = (): CommandFailure =>
  new CommandFailure('nobody approved the login in time; run the command again', exitCodes.waitEnded, {
    error_code: 'expired_token',
  });

const stopped = ({ user_code: code }: Begun): CommandFailure =>
  new CommandFailure(
    `stopped; nobody is logged in. The code ${code} is of no use any more: do not approve it`,
    exitCodes.interrupted,
  );
