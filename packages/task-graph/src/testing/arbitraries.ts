import * as fc from 'fast-check';
import { broken, type Outcome, ok } from './driver';
import type { NodeFixture } from './fixture';

/** Random deployments, and random outcomes of their operations. */

const OPS = [
  'precreate',
  'create',
  'configure',
  'start',
  'poststart',
  'prestop',
  'stop',
  'delete',
  'heal',
  'check_drift',
];
const ALL_OPS = [
  ...OPS,
  'cloudify.interfaces.validation.check_status',
  'cloudify.interfaces.monitoring.start',
];
const REL_OPS = ['preconfigure', 'postconfigure', 'establish', 'unlink', 'check_drift'];

const subset = (of: string[]) => fc.subarray(of);

export const topology = fc
  .array(
    fc.record({
      ops: subset(ALL_OPS),
      count: fc.integer({ min: 0, max: 2 }),
      targets: fc.array(fc.nat(5), { maxLength: 3 }),
      contained: fc.boolean(),
      source: subset(REL_OPS),
      target: subset(REL_OPS),
      after: fc.option(fc.constantFrom('create', 'start', 'delete')),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((list) => {
    const nodes: { [id: string]: NodeFixture } = {};
    list.forEach(({ ops, count, targets, contained, source, target, after }, i) => {
      const below = [...new Set(targets.filter((t) => t < i))];
      const properties = after ? { operation: after } : undefined;
      const rels = below.map((t, k) => ({
        to: `n${t}`,
        contained: contained && k === 0,
        source,
        target,
        properties,
      }));
      nodes[`n${i}`] = { ops, count, rels };
    });
    return nodes;
  });

export const OUTCOMES: Outcome[] = [
  ok(),
  ok(),
  ok('result'),
  broken(true),
  broken(false),
  { kind: 'retry', message: 'again', retryAfterMs: 30 },
  { kind: 'timed-out' },
  { kind: 'deferred', message: 'waits', untilExecution: null, checkAfterMs: 40 },
  { kind: 'lost' },
];

/** The outcome of the `nth` run. A deferred operation succeeds at some time. */
export function outcomeAt(picks: readonly number[], nth: number): Outcome {
  const outcome = OUTCOMES[picks[nth % picks.length]!]!;
  return outcome.kind === 'deferred' && Math.floor(nth / picks.length) % 2 === 1 ? ok() : outcome;
}
