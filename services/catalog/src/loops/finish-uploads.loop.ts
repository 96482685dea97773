import type { Loop } from '@baton/service-runtime';
import { type FinishDeps, finishUpload } from '../commands/finish-upload';

const INTERVAL_MS = 10_000;
const PARALLEL = 2;

/**
 * Finishes asynchronous uploads. Any number of replicas may run it: rows are leased with SKIP LOCKED. `kick` starts a run at once
 * after an upload was accepted here; the interval finds the uploads of crashed processes.
 */
export function finishUploadsLoop(deps: FinishDeps): {
  loop: Loop;
  kick: () => void;
  idle: () => Promise<void>;
} {
  let running = 0;
  let again = false;
  const waiting: (() => void)[] = [];

  async function drain(): Promise<void> {
    if (running >= PARALLEL) {
      again = true;
      return;
    }
    running += 1;
    try {
      do {
        again = false;
        while (await finishUpload(deps));
      } while (again);
    } finally {
      running -= 1;
      if (running === 0) for (const wake of waiting.splice(0)) wake();
    }
  }

  return {
    loop: { name: 'finish-uploads', intervalMs: INTERVAL_MS, tickOnce: drain },
    kick: () => void drain().catch((error: unknown) => deps.log.error({ err: error }, 'upload run failed')),
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
