import * as fc from 'fast-check';
import { OUTCOMES, outcomeAt, topology } from './testing/arbitraries';
import { drive, ok } from './testing/driver';
import { fixture, inputOf } from './testing/fixture';
import { modifications } from './testing/modification';
import { type Life, liveOn, stopAndResume } from './testing/stop-and-resume';

/** After any kind of stop, a resume whose operations all succeed reaches the intended state. */

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
    { numRuns: Math.ceil(50 * EFFORT) },
  );
});

/** The state of the instances before the workflow, and the allowed states after its success. */
const WORKFLOWS: { [workflow: string]: { from: string; to: string[]; parameters?: object } } = {
  install: { from: 'uninitialized', to: ['started'] },
  uninstall: { from: 'started', to: ['deleted'] },
  reinstall: { from: 'started', to: ['started'] },
  restart: { from: 'started', to: ['started'] },
  stop: { from: 'started', to: ['started'] },
  check_status: { from: 'started', to: ['started'] },
  check_drift: { from: 'started', to: ['started'] },
  rollback: { from: 'starting', to: ['configured'] },
  scale: {
    from: 'started',
    to: ['started'],
    parameters: { scalable_entity_name: 'n0', delta: 1, rollback_if_failed: false },
  },
};

const life = fc.record({
  outcomes: fc.array(fc.nat(OUTCOMES.length - 1), { minLength: 1, maxLength: 20 }),
  durations: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
  cancelAtMs: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }),
  force: fc.boolean(),
  lateMs: fc.constantFrom(0, 30, 1000),
});

const config = fc.record({
  subgraphRetries: fc.constantFrom(0, 1),
  taskRetries: fc.constantFrom(0, 2),
  waitAfterFailMs: fc.constantFrom(0, 40, 600_000),
});

type RandomLife = typeof life extends fc.Arbitrary<infer T> ? T : never;

function lifeOf({ outcomes, durations, ...more }: RandomLife): Life {
  let n = 0;
  return {
    ...more,
    run: () => outcomeAt(outcomes, n++),
    durationMs: () => durations[n % durations.length]!,
  };
}

const LAST: Life = { run: () => ok(), force: true, lateMs: 0 };

test('stopped again and again, late answers or none, every workflow reaches its goal', () => {
  const lives = fc.array(life, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      topology,
      lives,
      config,
      fc.constantFrom(...Object.keys(WORKFLOWS)),
      (nodes, l, c, workflow) => {
        const { from, to, parameters = {} } = WORKFLOWS[workflow]!;
        const model = fixture(nodes);
        for (const instance of model.nodeInstances) instance.state = from;
        const before = model.nodeInstances.length;
        const call = modifications('n0');
        const all = [...l.map(lifeOf), LAST].map((one) => ({ ...one, call }));
        const record = liveOn(workflow, inputOf(workflow, model, { ...parameters }, c), all);
        expect(record).toMatchObject({ outcome: 'succeeded', error: null });
        for (const instance of model.nodeInstances) expect(to).toContain(instance.state);
        expect(model.nodeInstances).toHaveLength(before + (workflow === 'scale' ? 1 : 0));
      },
    ),
    { numRuns: Math.ceil(70 * EFFORT) },
  );
});

test('a heal that was stopped is not resumed; another one heals', () => {
  fc.assert(
    fc.property(topology, life, config, fc.boolean(), (nodes, l, c, isForced) => {
      const model = fixture(nodes);
      for (const instance of model.nodeInstances) instance.state = 'started';
      const parameters = { force_reinstall: isForced };
      const stopped = drive('heal', inputOf('heal', model, parameters, c), {
        isParanoid: true,
        ...lifeOf(l),
      });
      if (stopped.outcome === 'succeeded') return;
      const again = drive('heal', inputOf('heal', model, { force_reinstall: true }, c), { isParanoid: true });
      expect(again).toMatchObject({ outcome: 'succeeded', error: null });
      for (const instance of model.nodeInstances) expect(instance.state).toBe('started');
    }),
    { numRuns: Math.ceil(20 * EFFORT) },
  );
});
