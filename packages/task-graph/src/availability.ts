import type { DeploymentModel } from './model';

/** Rules of a workflow in a plan (reference workflows.md 1.3). */
export interface AvailabilityRules {
  available?: boolean | null;
  node_types_required?: string[] | null;
  node_instances_active?: ('all' | 'none' | 'partial')[] | null;
}

export interface Availability {
  isAvailable: boolean;
  /** Reason for people; null when available. */
  reason: string | null;
}

const AVAILABLE: Availability = { isAvailable: true, reason: null };

type Seen = {
  nodes: readonly { type_hierarchy: string[] }[];
  nodeInstances: readonly { state: DeploymentModel['nodeInstances'][number]['state'] }[];
};

/** Whether a workflow may start on a deployment in its present state. All rules given must hold. */
export function workflowAvailability(rules: AvailabilityRules | null | undefined, model: Seen): Availability {
  if (!rules) return AVAILABLE;
  if (rules.available === false)
    return { isAvailable: false, reason: 'the blueprint declares it unavailable' };
  const types = rules.node_types_required ?? [];
  if (types.length > 0 && !model.nodes.some((node) => node.type_hierarchy.some((t) => types.includes(t)))) {
    return { isAvailable: false, reason: `it needs a node of one of the types ${types.join(', ')}` };
  }
  const wanted = rules.node_instances_active ?? [];
  const states = model.nodeInstances.map((instance) => instance.state ?? 'uninitialized');
  if (wanted.length > 0 && !wanted.some((kind) => isActive(kind, states))) {
    return { isAvailable: false, reason: `it needs the active node instances to be: ${wanted.join(' or ')}` };
  }
  return AVAILABLE;
}

function isActive(kind: 'all' | 'none' | 'partial', states: readonly string[]): boolean {
  const isAll = states.every((s) => s === 'started');
  if (kind === 'all') return isAll;
  if (kind === 'none') return !states.includes('started');
  return !isAll && !states.every((s) => s === 'uninitialized' || s === 'deleted');
}
