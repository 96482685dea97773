/** A point in the code under test at which a test can wait, and at which it can stop the code. */
export interface TestSignal {
  /** Called by the code under test (as a dependency or inside a handler). Waits while the signal is held. */
  reached(value?: unknown): Promise<void>;
  /** Resolves with the value of the next call of `reached` that no `wait` has returned yet. */
  wait(deadlineMs?: number): Promise<unknown>;
  /** Lets `reached` wait from now on, until `release`. */
  hold(): void;
  release(): void;
}

/** Named signals instead of sleeps: `signals.of('claimed').reached()` in a handler, `await signals.of('claimed').wait()` in the test. */
export function testSignals(): { of(name: string): TestSignal } {
  const signals = new Map<string, TestSignal>();
  return {
    of: (name) => {
      const found = signals.get(name) ?? createSignal(name);
      signals.set(name, found);
      return found;
    },
  };
}

function createSignal(name: string): TestSignal {
  const seen: unknown[] = [];
  const waiting: ((value: unknown) => void)[] = [];
  let gate: { open: Promise<void>; release: () => void } | null = null;
  return {
    reached: async (value) => {
      const next = waiting.shift();
      if (next) next(value);
      else seen.push(value);
      await gate?.open;
    },
    wait: (deadlineMs = 5_000) => {
      if (seen.length > 0) return Promise.resolve(seen.shift());
      return new Promise((resolve, reject) => {
        const take = (value: unknown): void => {
          clearTimeout(timer);
          resolve(value);
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(take), 1);
          reject(new Error(`signal ${name} was not reached within ${deadlineMs} ms`));
        }, deadlineMs);
        waiting.push(take);
      });
    },
    hold: () => {
      if (gate) return;
      let release = (): void => undefined;
      const open = new Promise<void>((resolve) => {
        release = resolve;
      });
      gate = { open, release };
    },
    release: () => {
      gate?.release();
      gate = null;
    },
  };
}
