import type { Happening } from '@baton/task-graph';
import { claim, type Engine, LEASE_MS, renew, report } from './engine';
import { call } from './network';
import type { RunId } from './store';
import type { Process, Work } from './world';

/** A run as it happened at a worker, independent of all transactions. */
export interface LedgerEntry extends RunId {
  worker: string;
  from: number;
  to: number | null;
  outcome: string | null;
}

export interface Fleet {
  engine: Engine;
  engines: readonly Process[];
  ledger: LedgerEntry[];
  /** Returns the outcome of a run. The same run always has the same outcome. */
  outcomeOf: (run: RunId) => { happening: Happening; durationMs: number };
}

/** Handles a message at a worker: claim, run, keep the lease, report until an engine answers. */
export function* runTask(fleet: Fleet, worker: Process, run: RunId): Work {
  const { engine, engines } = fleet;
  const { world } = engine;
  const granted = yield* call(world, engines, (server) => claim(engine, server, run, worker.name));
  if (granted !== 'granted') return;
  const entry: LedgerEntry = { ...run, worker: worker.name, from: world.now, to: null, outcome: null };
  fleet.ledger.push(entry);
  const { happening, durationMs } = fleet.outcomeOf(run);
  let keptUntil = world.now + LEASE_MS;
  for (let left = durationMs; left > 0; left -= LEASE_MS / 3) {
    yield Math.min(left, LEASE_MS / 3);
    if (world.random.chance(world.faults.pause)) yield LEASE_MS * 3;
    else {
      const isKept = yield* call(world, engines, (server) => renew(engine, server, run, worker.name));
      if (isKept) keptUntil = world.now + LEASE_MS / 2;
      // The worker kills its own run before another worker may begin the next one.
      else if (isKept === false || world.now > keptUntil) return;
    }
  }
  entry.to = world.now;
  entry.outcome = happening.kind;
  for (let tries = 0; tries < 40; tries++) {
    const answer = yield* call(world, engines, (server) => report(engine, server, run, [happening]));
    if (answer) return;
    yield 50;
  }
}
