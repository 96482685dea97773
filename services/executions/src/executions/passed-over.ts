/**
 * Who could not be checked when its turn to leave the queue had come, by queue: looks begin behind them until one has come
 * to the end of that queue, so that however many of them stand at its head hold up nobody. Of one process.
 */
export type PassedOver = Map<string, Set<string>>;

export const newPassedOver = (): PassedOver => new Map();

export function passedIn(all: PassedOver, queue: string): ReadonlySet<string> {
  return all.get(queue) ?? new Set();
}

export function passOver(all: PassedOver, queue: string, key: string): void {
  const passed = all.get(queue) ?? new Set();
  all.set(queue, passed.add(key));
}

/** The look has come to the end of the queue: the next one begins at its head. */
export const lookAgain = (all: PassedOver, queue: string): void => void all.delete(queue);
