/** Time in which code of this process may go on after a stop request; after that its end is ignored. */
const ABANDON_MS = 5_000;

/** Returns the promise, or undefined a while after `signal` was aborted: a function of our own process cannot be killed. */
export function untilStopped(promise: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      timer = setTimeout(resolve, signal.reason === 'lease-lost' ? 0 : ABANDON_MS, undefined);
    };
    const settle = (): void => {
      signal.removeEventListener('abort', onAbort);
      clearTimeout(timer);
    };
    signal.addEventListener('abort', onAbort);
    promise.then(resolve, reject).finally(settle);
  });
}
