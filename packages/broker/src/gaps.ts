/** Subscribers to call when messages may have been missed. */
export interface Gaps {
  add(call: (() => void) | undefined): void;
  remove(call: (() => void) | undefined): void;
  /** Call this when connected, with all subscriptions made: each time but the first comes after a gap. */
  connected(): void;
}

export function createGaps(): Gaps {
  const calls = new Set<() => void>();
  let hasBegun = false;
  return {
    add: (call) => void (call && calls.add(call)),
    remove: (call) => void (call && calls.delete(call)),
    connected() {
      if (hasBegun) for (const call of [...calls]) call();
      hasBegun = true;
    },
  };
}
