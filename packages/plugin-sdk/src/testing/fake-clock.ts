import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OperationClock } from '../tools/clock';

/** A clock that jumps: a sleep ends at once, and the time is later then. Sleeps beside each other end in their order. */
export interface FakeClock extends OperationClock {
  /** Lets time pass. What is due on the way happens in its order. */
  advance(ms: number): Promise<void>;
  /** Calls `work` when the time has come; it does not make the clock jump. Returns the function that gives it up. */
  at(dueMs: number, work: () => void): () => void;
}

interface Due {
  dueMs: number;
  work: () => void;
  /** Whether somebody waits for it. */
  isSleep: boolean;
}

/** Makes a clock. `startMs`: milliseconds since 1970. Default: 2026-01-01. */
export function fakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let now = startMs;
  let isJumping = false;
  const dues = new Set<Due>();
  const next = (): Due | undefined => [...dues].sort((a, b) => a.dueMs - b.dueMs)[0];
  const add = (due: Due): (() => void) => {
    dues.add(due);
    return () => void dues.delete(due);
  };
  /** Lets what is due until `untilMs` happen. */
  const pass = async (untilMs: number): Promise<void> => {
    for (let due = next(); due !== undefined && due.dueMs <= untilMs; due = next()) {
      dues.delete(due);
      now = Math.max(now, due.dueMs);
      due.work();
      await nextTurn();
    }
  };
  const jump = async (): Promise<void> => {
    isJumping = true;
    await nextTurn();
    for (;;) {
      const sleeps = [...dues].filter(({ isSleep }) => isSleep).map(({ dueMs }) => dueMs);
      if (sleeps.length === 0) break;
      await pass(Math.min(...sleeps));
    }
    isJumping = false;
  };
  return {
    now: () => now,
    sleep: (ms) =>
      new Promise((resolve) => {
        add({ dueMs: now + ms, work: resolve, isSleep: true });
        if (!isJumping) void jump();
      }),
    at: (dueMs, work) => add({ dueMs, work, isSleep: false }),
    advance: async (ms) => {
      const untilMs = now + ms;
      await pass(untilMs);
      now = Math.max(now, untilMs);
    },
  };
}
