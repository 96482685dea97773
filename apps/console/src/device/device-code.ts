/**
 * The code with which the page was opened. It is kept for this tab while somebody signs in, also at an identity provider, and is taken
 * out of the address, so that no history, bookmark or copied link keeps it.
 */
import { takeHash } from '../api/session';

const KEY = 'baton.device-code';

/** Keeps the code of `/ui/-/device#user_code=BCDF-GHJK`. */
export function keepDeviceCode(location: Location, history: History, storage: () => Storage): void {
  const code = takeHash('user_code', /^[A-Za-z-]{1,32}$/, location, history);
  if (code !== null) quietly(() => storage().setItem(KEY, code));
}

/** Returns the code that was kept; empty: none. */
export const keptDeviceCode = (storage: () => Storage): string => quietly(() => storage().getItem(KEY)) ?? '';

export const forgetDeviceCode = (storage: () => Storage): void => {
  quietly(() => storage().removeItem(KEY));
};

/** Without storage the user enters the code. */
function quietly<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch {
    return null;
  }
}
