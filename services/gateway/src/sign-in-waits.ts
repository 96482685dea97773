/**
 * Limits the sign-ins whose body has not arrived yet. Their callers are unknown, so slow ones could take every waiting place from
 * known callers. A sign-in whose body came with its head does not wait and is never counted.
 */
import { AppError } from '@baton/kernel';
import { tooMany } from './too-many';

const MOST_OF_ADDRESS = 16;
const MOST = 256;

export interface SignInWaits {
  /** Runs `wait` as one of the limited waits. @throws AppError too_many_requests_error, service_unavailable_error */
  run<T>(address: string, wait: () => Promise<T>): Promise<T>;
}

export function createSignInWaits(): SignInWaits {
  const waiting = new Map<string, number>();
  let all = 0;
  const leave = (address: string): void => {
    all -= 1;
    const left = waiting.get(address)! - 1;
    if (left > 0) waiting.set(address, left);
    else waiting.delete(address);
  };
  return {
    async run(address, wait) {
      const mine = waiting.get(address) ?? 0;
      if (mine >= MOST_OF_ADDRESS)
        throw tooMany({ scope: 'address', limit: MOST_OF_ADDRESS, what: 'sign-ins without a body at once' });
      if (all >= MOST)
        throw new AppError(
          'service_unavailable_error',
          'Too many sign-ins wait for their body; send it with the head of the request',
        );
      all += 1;
      waiting.set(address, mine + 1);
      try {
        return await wait();
      } finally {
        leave(address);
      }
    },
  };
}
