import * as fc from 'fast-check';
import { resumeGraph } from './resume';
import { OUTCOMES, outcomeAt } from './testing/arbitraries';
import { newWorld, ok, type RunRecord, runGraph, runStored, takeLate } from './testing/driver';
import { inspector } from './testing/inspector';
import { MODEL, plainGraph } from './testing/plain-graphs';

/**
 * Graphs of any shape, over random failures, losses, waits and cancels: they end, no task is left running without a
 * worker (testing/end-oracle.ts), and a resume whose operations all succeed makes them succeed.
 */

const EFFORT = Number(process.env.BATON_PROP_EFFORT ?? 1);

const trouble = fc.record({
  outcomes: fc.array(fc.nat(OUTCOMES.length - 1), { minLength: 1, maxLength: 20 }),
  durations: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 7 }),
  cancelAtMs: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
  force: fc.boolean(),
  lateMs: fc.constantFrom(0, 20, 1000),
});

test('a graph of any shape ends, leaves nothing that nobody runs, and is resumed to its success', () => {
  fc.assert(
    fc.property(plainGraph, trouble, (spec, t) => {
      let n = 0;
      const inspect = inspector();
      const world = newWorld(MODEL(), {
        isParanoid: true,
        isRepeating: true,
        cancelAtMs: t.cancelAtMs,
        run: () => outcomeAt(t.outcomes, n++),
        durationMs: () => t.durations[n % t.durations.length]!,
        inspect,
      });
      const end = runGraph(world, spec);
      if (end === 'cancelled') expect(t.cancelAtMs).toBeDefined();
      else if (end.outcome.kind === 'failed') {
        expect(end.outcome.error).not.toContain('wait for each other');
        expect(end.outcome.failures.length).toBeGreaterThan(0);
      }
      // A task that still ran at the resume may fail after all; a forced resume runs it again.
      const lives = t.force ? [true] : [false, true];
      for (const force of lives) {
        if (isSuccess(world.record)) return;
        const { rows } = world.record.stages.at(-1)!;
        takeLate(world, spec, rows, world.now + t.lateMs);
        world.options = { isParanoid: true, run: () => ok() };
        const { graph, decision } = resumeGraph(spec, rows, { force, now: world.now });
        if (force) world.running.clear();
        runStored(world, spec, graph, rows, world.late, decision);
      }
      expect(isSuccess(world.record)).toBe(true);
    }),
    { numRuns: Math.ceil(200 * EFFORT) },
  );
});

const isSuccess = ({ stages }: RunRecord) => stages.at(-1)!.flags.ended === 'succeeded';
