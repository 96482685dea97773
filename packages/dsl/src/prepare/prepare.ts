import type { Json, JsonObject } from '@baton/kernel';
import type { Diagnostic } from '../diagnostics/diagnostic';
import { asResult, fail } from '../diagnostics/dsl-error';
import { FunctionFinder, mapPlaces, type Scope, walkCalls } from '../functions/places';
import { createInstances } from '../instances/expand';
import type { Random } from '../instances/ids';
import type { DeploymentPlan, InterDeploymentFunction, NodeInstance, ParsedPlan } from '../plan/plan';
import { type InputOptions, resolveInputs } from './inputs';
import { evaluatePlan, markIntrinsicOperations } from './plan-functions';

export interface PrepareOptions extends InputOptions {
  inputs?: JsonObject;
  /** Returns which of the named secrets do not exist; without this function a plan that reads secrets is refused. */
  findMissingSecrets?: ((names: string[]) => Promise<readonly string[]> | readonly string[]) | null;
  /** Leaves all functions for run time. */
  runtimeOnlyEvaluation?: boolean;
  /** Instance ids in use. */
  existingInstanceIds?: Iterable<string>;
  /** Random numbers in 0..1 for the ids of instances. */
  random: Random;
}

export interface PrepareOutcome {
  /** Null when there are diagnostics. */
  plan: DeploymentPlan | null;
  diagnostics: Diagnostic[];
}

/**
 * Converts a parsed plan into the plan of one deployment (reference 7): sets input values, evaluates functions, checks
 * secrets, makes instances, and lists uses of other deployments. The given plan is not changed.
 */
export async function prepareDeploymentPlan(
  plan: ParsedPlan,
  options: PrepareOptions,
): Promise<PrepareOutcome> {
  const diagnostics: Diagnostic[] = [];
  const result = await asResult(async () => {
    const resolved = await resolveInputs(plan, options.inputs ?? {}, options);
    diagnostics.push(...resolved.diagnostics);
    if (diagnostics.length > 0) return null;
    const withInputs: ParsedPlan = { ...plan, inputs: resolved.inputs };
    const finder = new FunctionFinder();
    const evaluated = options.runtimeOnlyEvaluation ? withInputs : await evaluatePlan(withInputs, finder);
    const marked = markIntrinsicOperations(evaluated, finder);
    await checkSecrets(marked, options.findMissingSecrets ?? null, finder);
    const node_instances = createInstances(marked, options.existingInstanceIds ?? [], options.random);
    return {
      ...marked,
      node_instances,
      inter_deployment_functions: await findInterDeploymentFunctions(marked, node_instances, finder),
    };
  });
  if (!result.ok) return { plan: null, diagnostics: [...diagnostics, result.error] };
  return { plan: result.value, diagnostics };
}

async function checkSecrets(
  plan: ParsedPlan,
  findMissing: PrepareOptions['findMissingSecrets'],
  finder: FunctionFinder,
): Promise<void> {
  const names = new Set<string>();
  let isUsed = false;
  await mapPlaces(
    plan,
    (value, _scope, path) => {
      walkCalls(value, path, ({ name, args }) => {
        if (name !== 'get_secret') return;
        isUsed = true;
        const first = Array.isArray(args) ? args[0] : args;
        if (typeof first === 'string') names.add(first);
      });
      return value;
    },
    finder,
  );
  if (!isUsed) return;
  if (!findMissing)
    fail('no_secret_lookup', 'the blueprint uses get_secret, but no secrets can be looked up here', {
      expected: 'a manager',
    });
  if (names.size === 0) return;
  const missing = await findMissing!([...names]);
  if (missing.length === 0) return;
  fail('unknown_secrets', `Required secrets: [${missing.join(', ')}] don't exist in this tenant`, {
    value: [...missing],
    expected: `secrets named ${missing.join(', ')}`,
  });
}

/** Finds uses of capabilities of other deployments: for nodes one per instance, for relationships one per source instance. */
async function findInterDeploymentFunctions(
  plan: ParsedPlan,
  instances: readonly NodeInstance[],
  finder: FunctionFinder,
): Promise<InterDeploymentFunction[]> {
  const found: InterDeploymentFunction[] = [];
  let byNode: Map<string, NodeInstance[]> | null = null;
  const instancesOf = (node: string): NodeInstance[] => {
    byNode ??= groupByNode(instances);
    return byNode.get(node) ?? [];
  };
  await mapPlaces(
    plan,
    (value, scope, path) => {
      walkCalls(value, path, ({ name, args }, _call, at) => {
        if (name !== 'get_capability' || !Array.isArray(args) || args.length === 0) return;
        const [target] = args as [Json];
        const target_deployment: [string | null, Json] = [typeof target === 'string' ? target : null, target];
        for (const context of contextsOf(scope, instancesOf))
          found.push({ function_identifier: `${at}.get_capability`, target_deployment, context });
      });
      return value;
    },
    finder,
  );
  return found;
}

function groupByNode(instances: readonly NodeInstance[]): Map<string, NodeInstance[]> {
  const byNode = new Map<string, NodeInstance[]>();
  for (const instance of instances) {
    const list = byNode.get(instance.node_id);
    if (list) list.push(instance);
    else byNode.set(instance.node_id, [instance]);
  }
  return byNode;
}

function contextsOf(
  scope: Scope,
  instancesOf: (node: string) => NodeInstance[],
): InterDeploymentFunction['context'][] {
  if (scope.kind === 'section') return [{}];
  if (scope.kind === 'node') return instancesOf(scope.node).map(({ id }) => ({ self: id }));
  const contexts: InterDeploymentFunction['context'][] = [];
  for (const { id, relationships } of instancesOf(scope.node)) {
    const target = relationships.find((r) => r.target_name === scope.target);
    if (target) contexts.push({ self: id, source: id, target: target.target_id });
  }
  return contexts;
}
