import {
  type DeploymentPlan,
  evaluateFunctions,
  evaluateNodeProperties,
  evaluateOutputs,
  expandInstances,
  type FunctionStorage,
  formatDiagnostics,
  modifyInstances,
  type NodeInstance,
  type ParsedPlan,
  prepareDeploymentPlan,
} from '@baton/dsl';
import { difference, sortMembers } from './compare';
import { canonicalInstances, relationshipOrder, renameIds } from './instance-names';
import { type ExpectedError, errorDifference } from './parse-case';

type Dict = Record<string, never>;
interface PlanCase {
  id: string;
  args: Dict;
  result?: never;
  error?: ExpectedError;
}

export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** Returns inter-deployment functions and instances in a form without random ids. */
function canonicalPlan(plan: DeploymentPlan): unknown {
  const { list, colours } = canonicalInstances(plan.node_instances);
  const functions = (plan.inter_deployment_functions ?? [])
    .map((f) => renameIds(f, colours))
    .map((f) => JSON.stringify(sortKeys(f)))
    .sort();
  const rest = { ...plan } as Record<string, unknown>;
  delete rest.node_instances;
  delete rest.inter_deployment_functions;
  return sortMembers({ ...rest, instances: list, order: relationshipOrder(plan.node_instances), functions });
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sortKeys(v)]),
  );
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/**
 * Returns the secret lookup of a case. A recorded function knows no secret, unless the case succeeded with it or failed with
 * another error.
 */
function secretsOf(c: PlanCase): ((names: string[]) => string[]) | null {
  if (c.args.get_secret_method !== '<callable>') return null;
  if (c.error && c.error.class !== 'UnknownSecretError') {
    return () => {
      throw Object.assign(new Error('secrets cannot be read'), { name: c.error!.class });
    };
  }
  return (names) => (c.error ? names : []);
}

export async function runPrepareCase(c: PlanCase): Promise<string | null> {
  const args = c.args as unknown as {
    plan: ParsedPlan;
    inputs: never;
    runtime_only_evaluation: boolean;
    auto_correct_types: boolean;
    existing_ni_ids: string[] | null;
  };
  const findMissingSecrets = secretsOf(c);
  try {
    const { plan, diagnostics } = await prepareDeploymentPlan(args.plan, {
      inputs: args.inputs ?? {},
      runtimeOnlyEvaluation: args.runtime_only_evaluation,
      autoCorrectTypes: args.auto_correct_types,
      existingInstanceIds: args.existing_ni_ids ?? [],
      findMissingSecrets,
      random: numbers(1),
    });
    if (c.error) return errorDifference(diagnostics[0], c.error);
    if (!plan) return formatDiagnostics(diagnostics);
    return difference(canonicalPlan(plain(plan)), canonicalPlan(c.result!));
  } catch (error) {
    // an error of the secret lookup is passed through
    if (c.error && error instanceof Error && error.name === c.error.class) return null;
    throw error;
  }
}

export async function runInstancesCase(c: PlanCase): Promise<string | null> {
  const args = c.args as unknown as { plan: ParsedPlan; existing_ni_ids: string[] | null };
  const expanded = expandInstances(args.plan, args.existing_ni_ids ?? [], numbers(2));
  if (c.error) return errorDifference(expanded.ok ? undefined : expanded.error, c.error);
  if (!expanded.ok) return formatDiagnostics([expanded.error]);
  const actual = plain({ ...args.plan, node_instances: expanded.value });
  return difference(
    canonicalPlan(actual as DeploymentPlan),
    canonicalPlan({ ...args.plan, ...(c.result as unknown as object) } as DeploymentPlan),
  );
}

const LISTS = [
  'added_and_related',
  'extended_and_related',
  'reduced_and_related',
  'removed_and_related',
] as const;

export async function runModifyCase(c: PlanCase): Promise<string | null> {
  const args = c.args as unknown as {
    nodes: never;
    previous_nodes: never;
    previous_node_instances: NodeInstance[];
    modified_nodes: never;
    scaling_groups: never;
  };
  const modified = modifyInstances({
    nodes: args.nodes,
    previousNodes: args.previous_nodes,
    previousInstances: args.previous_node_instances,
    modifiedNodes: Array.isArray(args.modified_nodes) ? {} : (args.modified_nodes ?? {}),
    scalingGroups: args.scaling_groups ?? {},
    random: numbers(3),
  });
  if (c.error) return errorDifference(modified.ok ? undefined : modified.error, c.error);
  if (!modified.ok) return formatDiagnostics([modified.error]);
  for (const list of LISTS) {
    const actual = canonicalInstances(plain(modified.value[list]) as never).list;
    const expected = canonicalInstances((c.result as unknown as Record<string, never>)[list]!).list;
    const found = difference(actual, expected, list);
    if (found) return found;
  }
  return null;
}

interface RecordedStorage {
  node_instances: NodeInstance[];
  nodes: { id: string }[];
  inputs: Dict;
  secrets: Record<string, string>;
  capabilities: Record<string, Dict>;
  labels: Record<string, string[]>;
  group_capabilities: Record<string, Dict>;
  consumers: Record<string, string>;
  deployment_id: string | null;
  deployment_name: string | null;
}

/** Returns a storage like the recorded one, which returned `<name>_value` for an unknown secret. */
function storageOf(s: RecordedStorage): FunctionStorage {
  const system: Record<string, string | null> = {
    'deployment id': s.deployment_id,
    'deployment name': s.deployment_name,
  };
  return {
    getInput: (name) => s.inputs[name],
    getNode: (id) => s.nodes.find((n) => n.id === id) ?? null,
    getNodeInstance: (id) => s.node_instances.find((i) => i.id === id) ?? null,
    getNodeInstances: (node) => s.node_instances.filter((i) => i.node_id === node),
    getSecret: (name) => s.secrets[name] ?? `${name}_value`,
    getCapability: (deployment, name) =>
      Object.hasOwn(s.capabilities[deployment] ?? {}, name)
        ? { value: s.capabilities[deployment]![name]! }
        : null,
    getGroupCapability: (group, name) => s.group_capabilities[group]?.[String(name)] ?? null,
    getLabel: (key) => s.labels[key] ?? null,
    getSys: (entity, property) => system[`${entity} ${property}`] ?? `${entity}_${property}`,
    getConsumers: (what) =>
      what === 'count'
        ? Object.keys(s.consumers).length
        : what === 'ids'
          ? Object.keys(s.consumers)
          : Object.values(s.consumers),
  };
}

async function evaluateInstance(
  instance: NodeInstance & { runtime_properties?: never },
  storage: FunctionStorage,
): ReturnType<typeof evaluateFunctions> {
  const evaluated = await evaluateFunctions(instance.runtime_properties ?? {}, storage, {
    context: { self: instance.id },
  });
  return evaluated.ok
    ? { ok: true, value: { ...instance, runtime_properties: evaluated.value } as never }
    : evaluated;
}

export async function runEvaluateCase(
  c: PlanCase & { fn: string; storage: RecordedStorage },
): Promise<string | null> {
  const storage = storageOf(c.storage);
  const args = c.args as unknown as {
    payload: never;
    context: { self?: string; source?: string; target?: string };
    outputs_def: never;
    node: never;
    instance_context: string | null;
  };
  const evaluated =
    c.fn === 'evaluate_outputs'
      ? await evaluateOutputs(args.outputs_def, storage)
      : c.fn === 'evaluate_capabilities'
        ? await evaluateOutputs(
            (args as unknown as { capabilities: never }).capabilities,
            storage,
            'capabilities',
          )
        : c.fn === 'evaluate_node_instance_functions'
          ? await evaluateInstance(
              (args as unknown as { node_instance: NodeInstance }).node_instance,
              storage,
            )
          : c.fn === 'evaluate_node_functions'
            ? await evaluateNodeProperties(args.node, storage, args.instance_context)
            : await evaluateFunctions(args.payload, storage, { context: args.context ?? {} });
  if (c.error) return errorDifference(evaluated.ok ? undefined : evaluated.error, c.error);
  if (!evaluated.ok) return formatDiagnostics([evaluated.error]);
  return difference(plain(evaluated.value), c.result);
}
