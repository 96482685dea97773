import { checkLabel, type LabelPair, labelError } from '@baton/contracts';
import {
  type DeploymentPlan,
  type Diagnostic,
  evaluateFunctions,
  type FunctionStorage,
  isFunction,
  type ParsedPlan,
  prepareDeploymentPlan,
} from '@baton/dsl';
import { AppError, type ErrorCode, isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { ServiceDeps } from '../deps';
import { functionError } from '../queries/function-error';
import { functionStorage, type OnBehalf } from '../queries/function-storage';
import { type DeploymentRow, readCapabilities } from '../store/deployments.sql';
import { inputCandidates } from './input-candidates';
import { parentIds } from './parents';

export interface PreparationRequest {
  tenant: string;
  deploymentId: string;
  blueprintId: string;
  plan: JsonObject;
  inputs: JsonObject;
  /** Labels of the request. */
  labels: readonly LabelPair[];
  displayName: string | null;
  isRuntimeOnly: boolean;
  caller: { username: string; isAdministrator: boolean };
}

export interface DeploymentPreparation {
  plan: DeploymentPlan;
  /** Labels of the request and of the plan, without duplicates. */
  labels: LabelPair[];
  displayName: string;
  defaultSchedules: Record<string, unknown>;
  /** Ids of the groups that the deployment joins. */
  defaultGroups: string[];
}

type Deps = Pick<ServiceDeps, 'db' | 'documents' | 'catalog' | 'secrets'>;

/** Error codes of the conditions that clients distinguish; every other one is deployment_creation_error. */
const CODES: Partial<Record<string, ErrorCode>> = {
  missing_inputs: 'missing_required_deployment_input_error',
  unknown_input: 'unknown_deployment_input_error',
  unknown_secrets: 'unknown_deployment_secret_error',
  no_secret_lookup: 'unknown_deployment_secret_error',
};

/**
 * Prepares all parts of a new deployment (reference/dsl.md 7.3) and stores nothing.
 * @throws AppError with the code of the first problem, and all problems in `diagnostics`.
 */
export async function prepareDeployment(
  deps: Deps,
  request: PreparationRequest,
): Promise<DeploymentPreparation> {
  const { tenant, caller } = request;
  const outcome = await prepareDeploymentPlan(request.plan as unknown as ParsedPlan, {
    inputs: request.inputs,
    runtimeOnlyEvaluation: request.isRuntimeOnly,
    hasBlueprint: true,
    getValues: inputCandidates(deps, request),
    findMissingSecrets: async (names) => (await deps.secrets.read(tenant, names, caller)).missing,
    random: Math.random,
  });
  if (!outcome.plan) throw preparationError(outcome.diagnostics);
  const { plan } = outcome;
  const on: OnBehalf = caller;
  const labels = await mergeLabels(plan, request, memoryStorage(deps, plan, request, request.labels, on));
  await checkParentCapabilities(deps, tenant, plan, labels);
  const storage = memoryStorage(deps, plan, request, labels, on);
  const settings = (await evaluated(plan.deployment_settings, storage, 'deployment_settings')) as JsonObject;
  const named =
    request.displayName ?? (typeof settings.display_name === 'string' ? settings.display_name : null);
  return {
    plan,
    labels,
    displayName: (named ?? request.deploymentId).normalize('NFKC').slice(0, 256),
    defaultSchedules: isJsonObject(settings.default_schedules) ? settings.default_schedules : {},
    defaultGroups: groupIds(settings.default_groups),
  };
}

function groupIds(groups: Json | undefined): string[] {
  if (groups === undefined || groups === null) return [];
  if (Array.isArray(groups) && groups.every((id) => typeof id === 'string' && id !== ''))
    return groups as string[];
  throw new AppError('deployment_creation_error', 'default_groups must be ids of groups', {
    field: 'deployment_settings.default_groups',
    expected: 'list of texts',
  });
}

function preparationError(diagnostics: readonly Diagnostic[]): AppError {
  const first = diagnostics[0]!;
  const messages = diagnostics.map((d) => d.message).join('\n');
  return new AppError(CODES[first.kind] ?? 'deployment_creation_error', messages, {
    field: first.path === '' ? 'inputs' : first.path,
    ...(first.expected === undefined ? {} : { expected: first.expected }),
    ...(first.nearest === undefined ? {} : { nearest: first.nearest }),
    diagnostics,
  });
}

async function evaluated(value: Json, storage: FunctionStorage, path: string): Promise<Json> {
  const result = await evaluateFunctions(value, storage, { path });
  if (!result.ok) throw functionError('deployment_creation_error', result.error);
  return result.value;
}

async function mergeLabels(
  plan: DeploymentPlan,
  request: PreparationRequest,
  storage: FunctionStorage,
): Promise<LabelPair[]> {
  const merged = new Map(request.labels.map((label) => [`${label.key}=${label.value}`, label]));
  for (const [key, definition] of Object.entries(plan.labels)) {
    const values = isJsonObject(definition) && Array.isArray(definition.values) ? definition.values : [];
    for (const raw of values) {
      const value = isFunction(raw) ? await evaluated(raw, storage, `labels.${key}`) : raw;
      for (const text of Array.isArray(value) ? value : [value]) {
        const label = checkLabel(
          key,
          typeof text === 'string' ? text : JSON.stringify(text),
          `labels.${key}`,
        );
        if (!label.ok) throw labelError(label.error);
        merged.set(`${label.value.key}=${label.value.value}`, label.value);
      }
    }
  }
  return [...merged.values()];
}

/** Gives functions in labels and settings access to the plan as if it were stored. */
function memoryStorage(
  deps: Deps,
  plan: DeploymentPlan,
  request: PreparationRequest,
  labels: readonly LabelPair[],
  on: OnBehalf,
): FunctionStorage {
  const row = {
    key: 0,
    tenant: request.tenant,
    id: request.deploymentId,
    display_name: request.displayName ?? request.deploymentId,
    blueprint_id: request.blueprintId,
    created_by: request.caller.username,
  } as DeploymentRow;
  const stored = functionStorage({ db: deps.db.query, secrets: deps.secrets }, row, on);
  return {
    ...stored,
    getInput: (name) => (Object.hasOwn(plan.inputs, name) ? plan.inputs[name] : undefined),
    getNode: (id) => plan.nodes.find((node) => node.id === id) ?? null,
    getNodeInstance: (id) => plan.node_instances.find((instance) => instance.id === id) ?? null,
    getNodeInstances: (nodeId) => plan.node_instances.filter((instance) => instance.node_id === nodeId),
    getLabel: (key) => {
      const values = labels.filter((label) => label.key === key.toLowerCase()).map((label) => label.value);
      return values.length > 0 ? values : null;
    },
    getConsumers: (what) => (what === 'count' ? 0 : []),
  };
}

/** Checks that the environment declares the capabilities that the plan needs from it (reference/dsl.md 7.3). */
async function checkParentCapabilities(
  deps: Deps,
  tenant: string,
  plan: DeploymentPlan,
  labels: readonly LabelPair[],
): Promise<void> {
  const needed = (plan.requirements?.parent_capabilities ?? []).filter(
    (path): path is Json[] => Array.isArray(path) && path.length > 0,
  );
  if (needed.length === 0) return;
  const texts = needed.map((path) => path.map(String).join('.'));
  const parent = parentIds(labels)[0];
  if (parent === undefined) {
    throw new AppError(
      'deployment_creation_error',
      `Environment not found, but environment capabilities are required: ${texts.join(', ')}`,
      { field: 'labels', expected: 'a csys-obj-parent label' },
    );
  }
  const environment = await readCapabilities(deps.db.query, tenant, parent);
  // A missing parent is refused later, when the labels are stored.
  if (!environment) return;
  const missing = needed
    .filter(([name]) => !Object.hasOwn(environment.capabilities, String(name)))
    .map((path) => path.map(String).join('.'));
  if (missing.length === 0) return;
  throw new AppError(
    'deployment_creation_error',
    `Environment ${environment.display_name} (${parent}) does not have the required capabilities: ${missing.join(', ')}`,
    {
      field: 'labels',
      missing,
      nearest: Object.keys(environment.capabilities).slice(0, 20),
    },
  );
}
