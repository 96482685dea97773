import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';

export interface Availability {
  isAvailable: boolean;
  /** Reason for people; null when available. */
  reason: string | null;
}

const YES: Availability = { isAvailable: true, reason: null };
const no = (reason: string): Availability => ({ isAvailable: false, reason });

function strings(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string') : [];
}

/** Whether the states of instances match `which`: all, partial or none active. */
function isActive(which: string, states: readonly string[]): boolean {
  const isAll = states.every((s) => s === 'started');
  const hasStarted = states.includes('started');
  if (which === 'all') return isAll;
  if (which === 'none') return !hasStarted;
  return which === 'partial' && !isAll && !states.every((s) => s === 'uninitialized' || s === 'deleted');
}

/**
 * Whether a workflow may run now (reference 5.7, "Workflow availability evaluation"). `rules`: the plan's rules;
 * `states`: the states of all node instances; `typeHierarchies`: those of all nodes.
 */
export function workflowAvailability(
  rules: JsonObject | null | undefined,
  typeHierarchies: readonly (readonly string[])[],
  states: readonly string[],
): Availability {
  if (!isJsonObject(rules)) return YES;
  if (rules.available === false) return no('the workflow is switched off');
  const active = rules.node_instances_active;
  if (Array.isArray(active) && !strings(active).some((which) => isActive(which, states))) {
    return no(`it runs when the active node instances are: ${strings(active).join(' or ')}`);
  }
  const needed = strings(rules.node_types_required);
  if (
    needed.length > 0 &&
    !needed.some((type) => typeHierarchies.some((hierarchy) => hierarchy.includes(type)))
  ) {
    return no(`it needs a node of one of the types ${needed.join(', ')}`);
  }
  return YES;
}
