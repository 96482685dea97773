import * as fc from 'fast-check';
import type { DeploymentModel } from './model';
import type { TaskRow } from './task';
import { OUTCOMES, outcomeAt, topology } from './testing/arbitraries';
import { drive, type RunRecord } from './testing/driver';
import { fixture, inputOf, type NodeFixture } from './testing/fixture';
import { inspector } from './testing/inspector';
import { modifications } from './testing/modification';
import { updates } from './testing/updates';

/**
 * Over random topologies, failures, losses and cancels: dependencies are respected, no attempt is dispatched twice,
 * every run ends, and an uninstall reverses its install. A failing case prints its seed.
 */

/** BATON_PROP_EFFORT multiplies the number of cases, and makes them random. */
const EFFORT = Number(process.env.BATON_PROP_EFFORT ?? 1);

const trouble = fc.record({
  outcomes: fc.array(fc.nat(OUTCOMES.length - 1), { minLength: 1, maxLength: 20 }),
  durations: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 7 }),
  subgraphRetries: fc.constantFrom(0, 0, 1, 2),
  taskRetries: fc.constantFrom(0, 1, 3),
  waitAfterFailMs: fc.constantFrom(0, 40, 600_000),
  cancelAtMs: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
  ignore: fc.boolean(),
  delta: fc.constantFrom(1, -1),
});

const WORKFLOWS = [
  'install',
  'uninstall',
  'reinstall',
  'restart',
  'heal',
  'check_status',
  'check_drift',
  'rollback',
  'scale',
  'update',
];

/** The instance states that a workflow begins with. */
function begin(workflow: string, model: DeploymentModel): void {
  const state = workflow === 'install' ? 'uninitialized' : workflow === 'rollback' ? 'starting' : 'started';
  for (const instance of model.nodeInstances) {
    const isAdded = workflow === 'update' && instance.node_id === 'n0';
    instance.state = isAdded ? 'uninitialized' : state;
  }
}

test('advance respects dependencies, dispatches no attempt twice and always comes to an end', () => {
  fc.assert(
    fc.property(topology, trouble, fc.constantFrom(...WORKFLOWS), (nodes, t, workflow) => {
      const model = fixture(nodes);
      begin(workflow, model);
      let n = 0;
      const graphs = new Map<readonly TaskRow[], ReturnType<typeof inspector>>();
      const parameters = {
        ignore_failure: t.ignore,
        scalable_entity_name: 'n0',
        delta: t.delta,
        update_id: 'u',
      };
      const record = drive(workflow, inputOf(workflow, model, parameters, t), {
        call: workflow === 'update' ? updates('n0', 'n1') : modifications('n0'),
        isParanoid: true,
        isRepeating: true,
        cancelAtMs: t.cancelAtMs,
        run: () => outcomeAt(t.outcomes, n++),
        durationMs: () => t.durations[n % t.durations.length]!,
        inspect: (stored, decision) => {
          if (!graphs.has(stored)) graphs.set(stored, inspector());
          graphs.get(stored)!(stored, decision);
        },
      });
      expect(['succeeded', 'failed', 'cancelled']).toContain(record.outcome);
      if (t.cancelAtMs === undefined) expect(record.outcome).not.toBe('cancelled');
      // A task that requests more runs than allowed is not ignored.
      const isAskingAgain = t.outcomes.some((pick) => OUTCOMES[pick]!.kind === 'retry');
      if (t.ignore && workflow === 'uninstall' && !isAskingAgain) expect(record.outcome).not.toBe('failed');
      if (record.outcome === 'failed') expect(record.error!.message).not.toContain('wait for each other');
    }),
    { numRuns: Math.ceil(150 * EFFORT) },
  );
});

function spans(record: RunRecord): Map<string, { from: number; to: number }> {
  const found = new Map<string, { from: number; to: number }>();
  for (const { instance, label, from, to } of record.calls) {
    if (label.includes('->')) continue;
    const at = found.get(instance);
    found.set(instance, { from: Math.min(from, at?.from ?? from), to: Math.max(to, at?.to ?? to) });
  }
  return found;
}

test('install runs targets before their sources, uninstall the other way round', () => {
  fc.assert(
    fc.property(topology, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (nodes, durations) => {
      for (const node of Object.values(nodes))
        for (const rel of node.rels ?? []) delete (rel as NodeFixture).properties;
      const model = fixture(nodes);
      let n = 0;
      const options = { durationMs: () => durations[n++ % durations.length]! };
      const up = spans(drive('install', inputOf('install', model), options));
      expect(model.nodeInstances.every((i) => i.state === 'started')).toBe(true);
      const down = spans(drive('uninstall', inputOf('uninstall', model), options));
      expect(model.nodeInstances.every((i) => i.state === 'deleted')).toBe(true);
      for (const source of model.nodeInstances) {
        for (const { target_id: target } of source.relationships) {
          if (up.has(source.id) && up.has(target))
            expect(up.get(target)!.to).toBeLessThanOrEqual(up.get(source.id)!.from);
          if (down.has(source.id) && down.has(target))
            expect(down.get(source.id)!.to).toBeLessThanOrEqual(down.get(target)!.from);
        }
      }
    }),
    { numRuns: Math.ceil(80 * EFFORT) },
  );
});

test('an update connects each new relationship once, and everything has started', () => {
  fc.assert(
    fc.property(topology, (nodes) => {
      for (const node of Object.values(nodes))
        for (const rel of node.rels ?? []) delete (rel as NodeFixture).properties;
      const model = fixture(nodes);
      begin('update', model);
      const parameters = { update_id: 'u', skip_reinstall: true };
      const record = drive('update', inputOf('update', model, parameters), {
        call: updates('n0', 'n1'),
        isParanoid: true,
      });
      expect(record.outcome).toBe('succeeded');
      for (const { state } of model.nodeInstances) expect(state).toBe('started');
      const runs = new Map<string, number>();
      for (const { label, instance, related } of record.calls)
        if (label.startsWith('establish')) {
          const key = `${label} ${instance} ${related}`;
          runs.set(key, (runs.get(key) ?? 0) + 1);
        }
      expect([...runs.values()].filter((times) => times > 1)).toEqual([]);
    }),
    { numRuns: Math.ceil(30 * EFFORT) },
  );
});
