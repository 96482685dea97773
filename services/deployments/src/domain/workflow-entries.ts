import { isJsonObject } from '@baton/kernel';

/** A workflow in the form of the plan. */
export interface PlanWorkflow {
  plugin?: string | null;
  operation?: string | null;
  parameters?: Record<string, unknown> | null;
  is_cascading?: boolean | null;
  availability_rules?: Record<string, unknown> | null;
}

export interface WorkflowEntry {
  name: string;
  plugin: string | null;
  operation: string | null;
  parameters: Record<string, unknown>;
  is_cascading: boolean;
  is_available: boolean;
  availability_rules: Record<string, unknown> | null;
}

/** The facts that availability rules need. */
export interface ModelActivity {
  /** Distinct states of the node instances. */
  states: readonly string[];
  /** Every type in the hierarchy of some node. */
  nodeTypes: readonly string[];
}

/** Whether the availability rules of a workflow are met (reference/rest-api.md 6.7, reference/workflows.md 1.3). */
export function isAvailable(
  rules: Record<string, unknown> | null | undefined,
  activity: ModelActivity,
): boolean {
  if (!rules) return true;
  if (rules.available === false) return false;
  const required = Array.isArray(rules.node_types_required) ? rules.node_types_required : [];
  if (required.length > 0 && !required.some((type) => activity.nodeTypes.includes(String(type))))
    return false;
  const active = Array.isArray(rules.node_instances_active) ? rules.node_instances_active : [];
  return active.length === 0 || active.some((rule) => isActivity(String(rule), activity.states));
}

function isActivity(rule: string, states: readonly string[]): boolean {
  const isAll = states.every((state) => state === 'started');
  if (rule === 'all') return isAll;
  if (rule === 'none') return !states.includes('started');
  return (
    rule === 'partial' && !isAll && !states.every((state) => state === 'uninitialized' || state === 'deleted')
  );
}

/** Returns the workflows of a plan in the form of REST, in the order of the plan. */
export function workflowEntries(workflows: unknown, activity: ModelActivity): WorkflowEntry[] {
  if (!isJsonObject(workflows)) return [];
  return Object.entries(workflows as Record<string, PlanWorkflow>).map(([name, workflow]) => ({
    name,
    plugin: workflow.plugin ?? null,
    operation: workflow.operation ?? null,
    parameters: workflow.parameters ?? {},
    is_cascading: workflow.is_cascading ?? false,
    is_available: isAvailable(workflow.availability_rules, activity),
    availability_rules: workflow.availability_rules ?? null,
  }));
}
