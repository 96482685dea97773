/**
 * Queue entries that could not be checked when their turn had come, by queue, of this process. Each look at a queue begins behind
 * them, until one look has come to the end of the queue. So these entries hold up no other one, however many are at the head.
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

/** Called when a look has come to the end of the queue: the next look begins at its head. */
export const lookAgain = (all: PassedOver, queue: string): void => void all.delete(queue);
