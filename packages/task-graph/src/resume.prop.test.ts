import * as fc from 'fast-check';
import { OUTCOMES, outcomeAt, topology } from './testing/arbitraries';
import { stopAndResume } from './testing/stop-and-resume';

/** However a run stopped, a resume whose operations all succeed brings it to the state that it was meant to reach. */

const EFFORT = Number(process.env.BATON_PROP_EFFORT ?? 1);

const GOALS = {
  install: { from: 'uninitialized', to: 'started' },
  uninstall: { from: 'started', to: 'deleted' },
  reinstall: { from: 'started', to: 'started' },
} as const;

const stop = fc.record({
  outcomes: fc.array(fc.nat(OUTCOMES.length - 1), { minLength: 1, maxLength: 20 }),
  subgraphRetries: fc.constantFrom(0, 1),
  taskRetries: fc.constantFrom(0, 2),
  waitAfterFailMs: fc.constantFrom(0, 600_000),
  cancelAtMs: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }),
});

test('a forced resume reaches the goal of the run', () => {
  const workflows = fc.constantFrom(...(Object.keys(GOALS) as (keyof typeof GOALS)[]));
  fc.assert(
    fc.property(topology, stop, workflows, (nodes, s, workflow) => {
      const { from, to } = GOALS[workflow];
      let n = 0;
      const first = { run: () => outcomeAt(s.outcomes, n++), cancelAtMs: s.cancelAtMs };
      const resumed = stopAndResume(workflow, nodes, first, { force: true, state: from, config: s });
      if (!resumed) return;
      expect(resumed.record).toMatchObject({ outcome: 'succeeded', error: null });
      for (const instance of resumed.model.nodeInstances) expect(instance).toMatchObject({ state: to });
    }),
    { numRuns: 100 * EFFORT },
  );
});
