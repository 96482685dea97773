import { randomUUID } from 'node:crypto';
import { groupDeploymentsCreated, type LabelPair, type Principal, type Visibility } from '@baton/contracts';
import { AppError, badParameter, isAppError, isJsonObject, newId } from '@baton/kernel';
import { type OutgoingMessage, outgoing } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { DEFAULT_ID_TEMPLATE, fillTemplate, refuseDoubles } from '../domain/id-template';
import { refuseWithoutRoom } from '../store/deployment-quota.sql';
import type { DeploymentFrame, NewDeploymentBody } from './check-deployment';
import { checkNewDeployment, checkPlugins, findBlueprint, refuseTaken } from './check-deployment';
import { creationMessage, creationParameters, type DeploymentRows, prepareRows } from './store-deployments';

export interface NewGroupDeployment extends NewDeploymentBody {
  id?: string | null;
}

/** The group as it will be after the request. */
export interface GroupDefaults {
  id: string;
  blueprintId: string | null;
  inputs: Record<string, unknown>;
  labels: readonly LabelPair[];
  visibility: Visibility;
  /** Number of deployments created so far. */
  counter: number;
}

/** Most deployments of one request: the rows of all of them are held in memory and stored by one transaction. */
const MAX_DEPLOYMENTS = 5_000;
const MAX_INSTANCES = 100_000;
/** Plans prepared before other requests of this process get their turn. */
const PLANS_A_TURN = 10;

/**
 * Checks and prepares all new deployments of a group; stores nothing. The blueprint and its plugins are looked up once.
 * @throws AppError of the first deployment that cannot be created; its field begins with `field` and the position.
 */
export async function prepareNewDeployments(
  deps: ServiceDeps,
  principal: Principal,
  group: GroupDefaults,
  wanted: readonly NewGroupDeployment[],
  field: string,
): Promise<DeploymentRows[]> {
  if (wanted.length === 0) return [];
  if (group.blueprintId === null) {
    throw new AppError('conflict_error', `Deployment group \`${group.id}\` has no default blueprint`, {
      field: 'blueprint_id',
      expected: 'a default blueprint, before deployments can be made in the group',
    });
  }
  refuseTooMany(wanted.length, MAX_DEPLOYMENTS, 'deployments', field);
  const { tenant } = principal;
  await refuseWithoutRoom(deps.db.query, tenant, deps.limits.of(tenant).deployments, wanted.length);
  const blueprint = await findBlueprint(deps, principal, group.blueprintId, group.visibility);
  if (wanted.some((one) => !one.skip_plugins_validation))
    await checkPlugins(deps, principal.tenant, blueprint.plan);
  const frame: DeploymentFrame = {
    principal,
    visibility: group.visibility,
    blueprint,
    createdAt: null,
    createdBy: principal.username,
  };
  const bodies = wanted.map((one, i) => filled(group, frame, one, i, field));
  const ids = bodies.map((body) => body.id);
  refuseDoubles(ids, field);
  await refuseTaken(deps, frame, ids);
  return await prepareAll(deps, frame, bodies, field);
}

async function prepareAll(
  deps: ServiceDeps,
  frame: DeploymentFrame,
  bodies: readonly (NewDeploymentBody & { id: string })[],
  field: string,
): Promise<DeploymentRows[]> {
  const rows: DeploymentRows[] = [];
  let instances = 0;
  for (const [i, body] of bodies.entries()) {
    try {
      rows.push(await prepareRows(deps, await checkNewDeployment(deps, frame, body.id, body)));
    } catch (error) {
      throw isAppError(error) ? at(error, `${field}.${i}`) : error;
    }
    instances += rows.at(-1)!.instances.length;
    refuseTooMany(instances, MAX_INSTANCES, 'node instances', field);
    if (i % PLANS_A_TURN === PLANS_A_TURN - 1) await new Promise((resolve) => setImmediate(resolve));
  }
  return rows;
}

function at(error: AppError, path: string): AppError {
  const field = typeof error.details.field === 'string' ? `${path}.${error.details.field}` : path;
  return new AppError(error.code, `${path}: ${error.message}`, { ...error.details, field }, { cause: error });
}

function refuseTooMany(count: number, most: number, what: string, field: string): void {
  if (count <= most) return;
  throw badParameter(field, `${field}: too many ${what} for one request`, {
    expected: `at most ${most} ${what}; ask for the others in further requests`,
  });
}

/** Returns one body with its names filled in; the defaults of the group apply where the body says nothing. */
function filled(
  group: GroupDefaults,
  frame: DeploymentFrame,
  one: NewGroupDeployment,
  position: number,
  field: string,
): NewDeploymentBody & { id: string } {
  const values = {
    group_id: group.id,
    uuid: randomUUID(),
    count: String(group.counter + position + 1),
    blueprint_id: frame.blueprint.id,
    site_name: one.site_name ?? '',
  };
  const at = `${field}.${position}`;
  const display = one.display_name || settingOf(frame.blueprint.plan, 'display_name');
  return {
    ...one,
    id: fillTemplate(one.id || templateOf(frame.blueprint.plan), values, `${at}.id`, true),
    display_name: display ? fillTemplate(display, values, `${at}.display_name`, false) : null,
    inputs: { ...group.inputs, ...one.inputs },
    labels: [...group.labels.map((label) => ({ [label.key]: label.value })), ...ownLabels(group, one.labels)],
  };
}

/** Returns the labels of a body without those that the group also gives. Values may be lists. */
function ownLabels(group: GroupDefaults, labels: unknown): unknown[] {
  if (!Array.isArray(labels)) return [];
  const isGiven = (key: string, value: unknown): boolean =>
    group.labels.some((label) => label.key === key.toLowerCase() && label.value === value);
  return labels.flatMap((label) => {
    if (!isJsonObject(label)) return [label];
    return Object.entries(label).flatMap(([key, value]) =>
      [value]
        .flat()
        .filter((v) => !isGiven(key, v))
        .map((v) => ({ [key]: v })),
    );
  });
}

/** Returns a string from the deployment settings of the blueprint; functions in them are evaluated with the plan. */
function settingOf(plan: Record<string, unknown>, name: string): string | null {
  const settings = plan.deployment_settings;
  const value = isJsonObject(settings) ? settings[name] : null;
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * Returns the template for ids.
 * @throws AppError conflict_error when the blueprint's template would give all deployments the same id.
 */
function templateOf(plan: Record<string, unknown>): string {
  const template = settingOf(plan, 'id_template') ?? DEFAULT_ID_TEMPLATE;
  if (/\{(uuid|count)\}/.test(template)) return template;
  throw new AppError(
    'conflict_error',
    `The id_template \`${template}\` of the blueprint gives all deployments of a group the same id`,
    { field: 'deployment_settings.id_template', expected: 'a template with {uuid} or {count}' },
  );
}

/** Most deployments in one message: messages of the broker are bounded. */
const TOLD_AT_ONCE = 200;

/**
 * Makes the messages by which executions records the creations as one execution group. Deployments with default schedules also get
 * one message each.
 */
export function groupCreationMessages(
  group: Pick<GroupDefaults, 'id' | 'visibility'>,
  rows: readonly DeploymentRows[],
): OutgoingMessage[] {
  if (rows.length === 0) return [];
  const executionGroupId = newId();
  const { principal, createdBy } = rows[0]!.request;
  const messages = rows.filter((row) => Object.keys(row.defaultSchedules).length > 0).map(creationMessage);
  for (let i = 0; i < rows.length; i += TOLD_AT_ONCE) {
    const deployments = rows.slice(i, i + TOLD_AT_ONCE).map((row) => ({
      deploymentId: row.request.id,
      blueprintId: row.request.blueprint.id,
      createExecutionId: row.createExecutionId,
      displayName: row.displayName,
      visibility: row.request.visibility,
      parameters: creationParameters(row),
    }));
    messages.push(
      outgoing(
        groupDeploymentsCreated,
        { tenant: principal.tenant, key: group.id },
        {
          executionGroupId,
          deploymentGroupId: group.id,
          createdBy,
          visibility: group.visibility,
          deployments,
        },
      ),
    );
  }
  return messages;
}
