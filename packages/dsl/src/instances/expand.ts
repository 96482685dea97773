import type { Diagnostic } from '../diagnostics/diagnostic';
import { DslError } from '../diagnostics/dsl-error';
import type { NodeInstance, ParsedPlan } from '../plan/plan';
import { IdMint, type Random } from './ids';
import { buildStructure } from './structure';
import { connect, growForest, toNodeInstance } from './tree';

/** Makes the instances of a plan. @throws DslError */
export function createInstances(
  plan: Pick<ParsedPlan, 'nodes' | 'scaling_groups'>,
  existingIds: Iterable<string>,
  random: Random,
): NodeInstance[] {
  const structure = buildStructure(plan.nodes, plan.scaling_groups ?? {});
  const mint = new IdMint(new Set(existingIds), random);
  const instances = growForest(structure, mint, (unit) => ({ kept: [], added: unit.count }));
  return [...connect(structure, instances).values()].map(toNodeInstance);
}

export type Expanded = { ok: true; value: NodeInstance[] } | { ok: false; error: Diagnostic };

/**
 * Makes the node instances of a plan with evaluated functions (reference 7.1). `existingIds` are not used again;
 * `random` returns numbers in 0..1.
 */
export function expandInstances(
  plan: Pick<ParsedPlan, 'nodes' | 'scaling_groups'>,
  existingIds: Iterable<string>,
  random: Random,
): Expanded {
  try {
    return { ok: true, value: createInstances(plan, existingIds, random) };
  } catch (error) {
    if (error instanceof DslError) return { ok: false, error: error.diagnostic };
    throw error;
  }
}
