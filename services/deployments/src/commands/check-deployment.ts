import type { LabelPair, Principal } from '@baton/contracts';
import { isAdministrator, isWider, labelError, parseLabels, type Visibility } from '@baton/contracts';
import { AppError, badParameter, type JsonObject, notFound } from '@baton/kernel';
import type { Blueprint } from '../adapters/catalog.client';
import type { ServiceDeps } from '../deps';
import { requiredPlugins } from '../domain/deployment-plan';
import { takenIds } from '../store/deployments.sql';
import { findSite, type SiteRow } from '../store/sites.sql';
import { requireDeploymentId, requireResourceId } from './resource-id';

/** Request body of one new deployment. */
export interface NewDeploymentBody {
  inputs?: Record<string, unknown> | null;
  site_name?: string | null;
  labels?: unknown;
  display_name?: string | null;
  skip_plugins_validation?: boolean | null;
  runtime_only_evaluation?: boolean | null;
}

/** A new deployment after all checks that do not need its plan. */
export interface DeploymentRequest {
  id: string;
  body: NewDeploymentBody;
  principal: Principal;
  visibility: Visibility;
  labels: LabelPair[];
  blueprint: Blueprint;
  site: SiteRow | null;
  /** ISO text; null: now. */
  createdAt: string | null;
  createdBy: string;
}

/** The common data of all new deployments of one request. */
export interface DeploymentFrame {
  principal: Principal;
  visibility: Visibility;
  blueprint: Blueprint;
  createdAt: string | null;
  createdBy: string;
}

const DISPLAY_NAME_LENGTH = 256;

/**
 * Returns the blueprint of a new deployment.
 * @throws AppError not_found_error, deployment_creation_error (not uploaded), forbidden_error (narrower than `visibility`).
 */
export async function findBlueprint(
  deps: ServiceDeps,
  principal: Principal,
  id: string,
  visibility: Visibility,
): Promise<Blueprint> {
  const caller = { username: principal.username, isAdministrator: isAdministrator(principal) };
  const blueprint = await deps.catalog.blueprint(principal.tenant, id, caller);
  if (!blueprint) throw notFound('Blueprint', id);
  if (blueprint.state !== 'uploaded') {
    throw new AppError(
      'deployment_creation_error',
      `Blueprint \`${id}\` is in state ${blueprint.state}, not uploaded`,
      { field: 'blueprint_id', state: blueprint.state },
    );
  }
  if (isWider(visibility, blueprint.visibility)) {
    throw new AppError(
      'forbidden_error',
      `A deployment cannot be wider (${visibility}) than its blueprint \`${blueprint.id}\` (${blueprint.visibility})`,
      { field: 'visibility', expected: `at most ${blueprint.visibility}` },
    );
  }
  return blueprint;
}

/**
 * Checks name, labels and site of one new deployment of a frame.
 * @throws AppError bad_parameters_error, not_found_error, illegal_action_error.
 */
export async function checkNewDeployment(
  deps: ServiceDeps,
  frame: DeploymentFrame,
  id: string,
  body: NewDeploymentBody,
): Promise<DeploymentRequest> {
  requireDeploymentId(id);
  const labels = parseLabels(body.labels ?? []);
  if (!labels.ok) throw labelError(labels.error);
  checkDisplayName(body.display_name ?? '');
  if (body.site_name) requireResourceId('site name', body.site_name, 'site_name');
  const site = body.site_name
    ? await findSiteFor(deps, frame.principal, body.site_name, frame.visibility)
    : null;
  return { ...frame, id, body, labels: labels.value, site };
}

/** Refuses ids of existing deployments. @throws AppError conflict_error when one of `ids` is taken. */
export async function refuseTaken(
  deps: Pick<ServiceDeps, 'db'>,
  frame: Pick<DeploymentFrame, 'principal' | 'visibility'>,
  ids: readonly string[],
): Promise<void> {
  const { principal, visibility } = frame;
  const [first] = await takenIds(deps.db.query, principal.tenant, ids, visibility === 'global');
  if (first !== undefined) throw taken(first);
}

export function taken(id: string): AppError {
  return new AppError('conflict_error', `Deployment with ID \`${id}\` already exists`, { field: 'id' });
}

async function findSiteFor(
  deps: ServiceDeps,
  principal: Principal,
  name: string,
  visibility: Visibility,
): Promise<SiteRow> {
  const site = await findSite(deps.db.query, principal, name);
  if (!site) throw notFound('Site', name);
  refuseNarrowSite(site, visibility);
  return site;
}

/** Refuses a site that is narrower than the deployment. @throws AppError illegal_action_error */
export function refuseNarrowSite(site: SiteRow, visibility: Visibility): void {
  if (!isWider(visibility, site.visibility)) return;
  throw new AppError(
    'illegal_action_error',
    `Site \`${site.name}\` is ${site.visibility}, narrower than the deployment (${visibility})`,
    {
      field: 'site_name',
      expected: `a site of visibility ${visibility} or wider`,
    },
  );
}

/** Checks that the manager has all plugins of the plan. @throws AppError deployment_plugin_not_found naming the missing plugins. */
export async function checkPlugins(deps: ServiceDeps, tenant: string, plan: JsonObject): Promise<void> {
  const required = requiredPlugins(plan);
  const missing = await deps.catalog.missingPlugins(tenant, required);
  if (missing.length === 0) return;
  const names = missing.map(
    (plugin) => `${plugin.packageName}${plugin.packageVersion && ` ${plugin.packageVersion}`}`,
  );
  throw new AppError(
    'deployment_plugin_not_found',
    `Required plugins are not on the manager: ${names.join(', ')}`,
    {
      plugins: names,
      expected: 'uploaded plugins, or skip_plugins_validation',
    },
  );
}

/** Checks a display name. @throws AppError bad_parameters_error for a name that is too long or contains control characters. */
export function checkDisplayName(name: string): string {
  const normal = name.normalize('NFKC');
  if (normal.length > DISPLAY_NAME_LENGTH || /\p{Cc}/u.test(normal)) {
    throw badParameter('display_name', 'The display name is too long or holds control characters', {
      expected: `at most ${DISPLAY_NAME_LENGTH} characters, none of them a control character`,
    });
  }
  return normal;
}
