import { type ParsedPlan, updateSteps } from '@baton/dsl';
import {
  AppError,
  isJsonObject,
  type Json,
  type JsonObject,
  nearestName,
  newId,
  notFound,
} from '@baton/kernel';
import type { AnyTx } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { describeChanges } from '../domain/update-changes';
import { describeStep, modifiedEntities, presentStep, recordedNode } from '../domain/update-plan';
import { type DeploymentUpdateRow, readUpdate, writeUpdate } from '../store/deployment-updates.sql';
import { type DeploymentRow, readDescription, readPlan } from '../store/deployments.sql';
import { readDocuments } from '../store/documents.sql';
import { readLabels } from '../store/labels.sql';
import { readModel } from './modifications';
import { type DeploymentPreparation, prepareDeployment } from './prepare-deployment';

type Deps = Pick<ServiceDeps, 'db' | 'documents' | 'catalog' | 'secrets'>;

/**
 * Performs stage A of an update (reference/workflows.md 1.13): makes the plan of the new blueprint with the inputs that it
 * declares, and the steps to it. Both are stored with the update; nothing is applied. Returns `{unsupported}`. A custom workflow
 * for the update must exist in the new plan: later its absence would be found in a changed model.
 * @throws AppError not_found_error, nonexistent_workflow_error, and those of prepareDeployment.
 */
export async function prepareUpdate(
  deps: Deps,
  row: DeploymentRow,
  { executionId, updateId, workflowId }: { executionId: string; updateId: string; workflowId: string | null },
  keep: (tx: AnyTx, result: Json) => Promise<void>,
): Promise<Json> {
  const update = await requireUpdate(deps, row, updateId);
  const labels = await readLabels(deps.db.query, row.key);
  const preparation = await prepareFor(deps, row, update, labels);
  if (workflowId !== null) requireWorkflow(preparation.plan, workflowId);
  return deps.db.tx(async (tx) => {
    const before = await storedPlan(deps, tx, row);
    const { steps, unsupported } = updateSteps(before, preparation.plan);
    // The steps of an update that cannot be performed are not stored.
    const kept = unsupported.length > 0 ? [] : steps;
    const known = new Set(labels.map((label) => `${label.key}=${label.value}`));
    await writeUpdate(tx, update.id, {
      execution_id: executionId,
      preparation: {
        plan: preparation.plan,
        labels: preparation.labels,
        defaultSchedules: preparation.defaultSchedules,
      },
      steps: kept.map((step) => presentStep(step, newId())),
      modified_entity_ids: modifiedEntities(kept),
      changes: describeChanges(before, preparation.plan, steps),
      new_inputs: preparation.plan.inputs,
      labels_to_create: preparation.labels
        .filter((label) => !known.has(`${label.key}=${label.value}`))
        .map(({ key, value }) => ({ key, value })),
    });
    const result = { unsupported: unsupported.map(describeStep) };
    await keep(tx, result);
    return result;
  });
}

function requireWorkflow({ workflows }: ParsedPlan, workflowId: string): void {
  const names = Object.keys(workflows ?? {});
  if (names.includes(workflowId)) return;
  const nearest = nearestName(workflowId, names);
  throw new AppError(
    'nonexistent_workflow_error',
    `Workflow ${workflowId}, which is to carry out the update, does not exist in its blueprint${nearest ? `; did you mean ${nearest}?` : ''}`,
    { field: 'workflow_id', expected: names.sort(), nearest },
  );
}

/** Returns the answer that `prepareUpdate` would give, with all steps; stores nothing. */
export async function rehearseUpdate(deps: Deps, row: DeploymentRow, updateId: string): Promise<Json> {
  const update = await requireUpdate(deps, row, updateId);
  const { plan } = await prepareFor(deps, row, update, await readLabels(deps.db.query, row.key));
  const { steps, unsupported } = await deps.db.tx(async (tx) =>
    updateSteps(await storedPlan(deps, tx, row), plan),
  );
  return { unsupported: unsupported.map(describeStep), steps: steps.map(describeStep) };
}

/** Returns an update of the deployment. @throws AppError not_found_error */
export async function requireUpdate(
  deps: Pick<ServiceDeps, 'db'>,
  row: DeploymentRow,
  updateId: string,
): Promise<DeploymentUpdateRow> {
  const update = await readUpdate(deps.db.query, row.key, updateId);
  if (!update) throw notFound('DeploymentUpdate', updateId);
  return update;
}

async function prepareFor(
  deps: Deps,
  row: DeploymentRow,
  update: DeploymentUpdateRow,
  labels: DeploymentPreparation['labels'],
): Promise<DeploymentPreparation> {
  const caller = { username: update.created_by, isAdministrator: update.is_administrator };
  const blueprint = await deps.catalog.blueprint(row.tenant, update.new_blueprint_id, caller);
  if (!blueprint) throw notFound('Blueprint', update.new_blueprint_id);
  const declared = (blueprint.plan.inputs ?? {}) as JsonObject;
  // An omitted input is stored as null: it is omitted again here.
  const inputs = Object.entries(update.new_inputs as JsonObject).filter(
    ([name, value]) => Object.hasOwn(declared, name) && (value !== null || isNeeded(declared[name])),
  );
  return prepareDeployment(deps, {
    tenant: row.tenant,
    deploymentId: row.id,
    blueprintId: blueprint.id,
    plan: blueprint.plan,
    inputs: Object.fromEntries(inputs),
    labels,
    displayName: row.display_name,
    isRuntimeOnly: update.runtime_only_evaluation,
    caller,
  });
}

const isNeeded = (declared: Json | undefined): boolean =>
  !isJsonObject(declared ?? null) || (declared as JsonObject).required !== false;

type ComparedPlan = Pick<ParsedPlan, 'nodes' | 'outputs' | 'workflows' | 'groups' | 'description'>;

/** Reads the parts of the current plan from which steps are made. */
async function storedPlan(deps: Deps, tx: AnyTx, row: DeploymentRow): Promise<ComparedPlan> {
  const { planNodes } = await readModel(deps, tx, row.key);
  const plan = await readPlan(tx, row.key);
  if (!plan) throw new AppError('internal_server_error', `Deployment \`${row.id}\` has no plan`);
  const model = (await readDocuments(tx, deps.documents, [plan.model])).get(plan.model) as Pick<
    ParsedPlan,
    'workflows' | 'groups'
  >;
  return {
    nodes: planNodes.map(recordedNode),
    outputs: plan.outputs as JsonObject,
    workflows: model.workflows,
    groups: model.groups,
    description: await readDescription(tx, row.key),
  };
}
