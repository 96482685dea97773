import * as fc from 'fast-check';
import { freshFlags, graphFromRows, isInOver, isTerminal } from '../graph';
import type { TaskRow } from '../task';
import { OUTCOMES, outcomeAt } from '../testing/arbitraries';
import { playCode } from '../testing/code-driver';
import { broken, type Outcome, ok } from '../testing/driver';
import type { CodeItem } from './compile';

/**
 * Graphs that workflow code grows, over random programs, failures, decisions, losses of the code's worker and cancels:
 * dependencies are respected, no attempt is dispatched twice, nothing starts after a cancel, and every run ends.
 */

const EFFORT = Number(process.env.BATON_PROP_EFFORT ?? 1);

const item = fc.record({
  kind: fc.constantFrom('operation', 'operation', 'step', 'event', 'state', 'subgraph'),
  deps: fc.array(fc.nat(9), { maxLength: 3 }),
  inside: fc.option(fc.nat(9)),
  retries: fc.constantFrom(0, 1, 2),
  asksOnFailure: fc.boolean(),
  asksOnSuccess: fc.boolean(),
});
type Sketch = typeof item extends fc.Arbitrary<infer T> ? T : never;

/** Items of one batch. Members of a subgraph wait only for members of the same subgraph, other items for any earlier item. */
function batchOf(sketches: readonly Sketch[], batch: number, earlier: readonly string[]): CodeItem[] {
  const items: CodeItem[] = [];
  sketches.forEach(({ kind, deps, inside, retries, asksOnFailure, asksOnSuccess }, i) => {
    const subgraphs = items.filter((one) => one.item === 'subgraph');
    const subgraph = inside === null ? undefined : subgraphs[inside % Math.max(1, subgraphs.length)]?.key;
    const among = subgraph
      ? items.filter((one) => one.subgraph === subgraph).map(({ key }) => key)
      : [...earlier, ...items.map(({ key }) => key)];
    const on = among.length === 0 ? [] : deps.map((n) => among[n % among.length]!);
    const common = { key: `${batch}.${i}`, deps: [...new Set(on)], subgraph: subgraph ?? null };
    const policy = { totalRetries: retries, retryIntervalMs: 5, asksOnFailure, asksOnSuccess };
    if (kind === 'operation')
      items.push({
        ...common,
        ...policy,
        item: kind,
        instanceId: 'n_1',
        operation: 'x.run',
        kwargs: {},
        mayOverride: false,
      });
    else if (kind === 'step') items.push({ ...common, ...policy, item: kind, name: 'step' });
    else if (kind === 'event')
      items.push({ ...common, item: kind, text: 'said', eventType: 'workflow_stage' });
    else if (kind === 'state') items.push({ ...common, item: kind, instanceId: 'n_1', state: 'there' });
    else items.push({ ...common, asksOnFailure, item: 'subgraph', name: 'inner' });
  });
  return items;
}

const program = fc.record({
  batches: fc
    .array(fc.array(item, { minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 3 })
    .map((list) => {
      const batches: CodeItem[][] = [];
      for (const sketches of list) {
        const earlier = batches.flat().map(({ key }) => key);
        batches.push(batchOf(sketches, batches.length, earlier));
      }
      return batches;
    }),
  isResumable: fc.boolean(),
  lostAtMs: fc.option(fc.integer({ min: 0, max: 150 }), { nil: undefined }),
  cancel: fc.option(
    fc.record({
      atMs: fc.integer({ min: 0, max: 200 }),
      mode: fc.constantFrom<'cancel' | 'kill'>('cancel', 'kill'),
    }),
    { nil: undefined },
  ),
  end: fc.constantFrom<Outcome>(
    ok(),
    ok(),
    ok(),
    broken(),
    broken(true),
    { kind: 'retry', message: 'again', retryAfterMs: 30 },
    { kind: 'deferred', message: 'waits', untilExecution: null, checkAfterMs: 40 },
    { kind: 'timed-out' },
  ),
  dropsAtMs: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }),
  outcomes: fc.array(fc.nat(OUTCOMES.length - 1), { minLength: 1, maxLength: 12 }),
  durations: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
  decisions: fc.array(fc.constantFrom<'go-on' | 'retry' | 'fail'>('go-on', 'retry', 'fail'), {
    minLength: 1,
    maxLength: 4,
  }),
});

test('code graphs respect dependencies, dispatch no attempt twice, start nothing after a cancel, and end', () => {
  fc.assert(
    fc.property(program, ({ outcomes, durations, decisions, ...of }) => {
      const end = playCode({
        ...of,
        outcome: (nth) => outcomeAt(outcomes, nth),
        durationMs: (nth) => durations[nth % durations.length]!,
        decide: (nth) => decisions[nth % decisions.length]!,
      });
      const { outcome, rows } = end;
      if (of.cancel === undefined && outcome.kind === 'cancelled') throw new Error('nobody cancelled');
      if (outcome.kind === 'failed' && of.end.kind === 'succeeded') {
        expect(of.isResumable).toBe(false);
        expect(of.lostAtMs).toBeDefined();
      }
      // One piece of work has one task, and the retries of this task.
      const firsts = rows.filter(({ key, retryOf }) => key !== undefined && retryOf === null);
      expect(new Set(firsts.map(({ key }) => key)).size).toBe(firsts.length);
      if (outcome.kind === 'succeeded') {
        expect(rows.filter(({ state }) => state === 'sent' || state === 'started')).toEqual([]);
        return;
      }
      // The code runs again from its beginning, and all its work succeeds.
      const { batches } = of;
      const calm = { batches, isResumable: true, outcome: () => ok(), durationMs: () => 10 };
      const resumed = playCode({ ...calm, decide: () => 'go-on' as const }, end);
      expect(resumed.outcome).toEqual({ kind: 'succeeded' });
      expect(openKeys(resumed.rows)).toEqual([]);
    }),
    { numRuns: Math.ceil(300 * EFFORT) },
  );
});

/** Keys whose last run has not ended, outside of subgraphs that are over. */
function openKeys(rows: readonly TaskRow[]): string[] {
  const { nodes } = graphFromRows({ name: 'wf', waitAfterFailMs: 0, dryRun: false }, rows, freshFlags());
  const open = nodes.filter((node) => !isTerminal(node.state) && !isInOver(nodes, node));
  return open.flatMap(({ spec }) => spec.key ?? []);
}
