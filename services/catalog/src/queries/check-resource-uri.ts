import { hasPermission, type Principal, type ResourceUri } from '@baton/contracts';
import { type FileArea, isFileArea, writePermissions } from '../domain/file-area';
import { findServedBlueprint } from '../store/served-files.sql';
import { type ResourceDeps, readingOf, refused } from './read-resources';

export interface UriDeps extends ResourceDeps {
  /** Whether the caller sees the deployment in the tenant of the request. */
  seesDeployment(principal: Principal, id: string): Promise<boolean>;
}

/**
 * Checks that the caller may read or write the resource of `uri`; the tenant of the request is the one in the URI. Resources with
 * endpoints of their own (plugins, snapshots, log bundles) are not open to a proxy.
 * @throws AppError forbidden_error
 */
export async function checkResourceUri(
  deps: UriDeps,
  principal: Principal,
  uri: ResourceUri | null,
  isWrite: boolean,
): Promise<void> {
  if (uri !== null && uri.tenant === principal.tenant && (await isOpen(deps, principal, uri, isWrite)))
    return;
  throw refused(principal);
}

async function isOpen(
  deps: UriDeps,
  principal: Principal,
  uri: ResourceUri,
  isWrite: boolean,
): Promise<boolean> {
  const { root, tenant, rest } = uri;
  if (isWrite && !(isFileArea(root) && mayWrite(principal, root))) return false;
  if (root === 'global-resources' || root === 'packages') return true;
  if (root === 'blueprints')
    return (
      Boolean(rest[0]) &&
      (await findServedBlueprint(deps.db.query, readingOf(principal), tenant, rest[0]!)) !== null
    );
  if (tenant === '' || (readingOf(principal) === null && !isOfExecution(principal))) return false;
  if (root === 'deployments') return Boolean(rest[0]) && deps.seesDeployment(principal, rest[0]!);
  return root === 'tenant-resources' || root === 'uploaded-blueprints';
}

const isOfExecution = ({ executionId }: Principal): boolean => executionId !== '';

const mayWrite = (principal: Principal, area: FileArea): boolean =>
  hasPermission(principal, writePermissions[area]) || (area === 'deployments' && isOfExecution(principal));
