import type { Process, Work, World } from './world';

/** A broker that loses, duplicates and reorders messages, and calls whose request or answer may be lost. */

const DELAY_MS = 60;
const CALL_TIMEOUT_MS = 150;

export function publish(world: World, processes: readonly Process[], deliver: (to: Process) => void): void {
  const copies = world.random.chance(world.faults.duplicate) ? 2 : 1;
  for (let i = 0; i < copies; i++) {
    if (world.random.chance(world.faults.lose)) continue;
    world.at(world.now + world.random.below(DELAY_MS), () => {
      const up = processes.filter((p) => p.isUp);
      if (up.length > 0) deliver(world.random.pick(up));
    });
  }
}

/** Calls one of `servers`; null: no answer in time, and the work may or may not have been done. */
export function* call<T>(
  world: World,
  servers: readonly Process[],
  handler: (server: Process) => Work<T>,
): Work<T | null> {
  const box: { answer: T | null } = { answer: null };
  const up = servers.filter((p) => p.isUp);
  const isSent = up.length > 0 && !world.random.chance(world.faults.lose);
  yield {
    isWaiting: true,
    onWait(wake) {
      let isAwake = false;
      const once = () => {
        if (!isAwake) wake();
        isAwake = true;
      };
      world.at(world.now + CALL_TIMEOUT_MS, once);
      if (!isSent) return;
      const server = world.random.pick(up);
      world.at(world.now + world.random.below(10), () =>
        world.spawn(server, serve(world, server, handler, box, once)),
      );
    },
  };
  return box.answer;
}

function* serve<T>(
  world: World,
  server: Process,
  handler: (server: Process) => Work<T>,
  box: { answer: T | null },
  wake: () => void,
): Work {
  const answer = yield* handler(server);
  if (world.random.chance(world.faults.lose)) return;
  yield world.random.below(10);
  box.answer = answer;
  wake();
}
