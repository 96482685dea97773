import { answer, type HttpAnswer, type HttpCall, type ServedFile, serveFile } from '@baton/http';
import { notFound } from '@baton/kernel';
import type { FolderListing } from '../queries/read-resources';

const isFile = (found: ServedFile | FolderListing): found is ServedFile => typeof found.open === 'function';

/** Answers a file of the file server with its bytes, and a folder with its list. */
export const serveFound = (
  call: HttpCall,
  found: ServedFile | FolderListing,
): Promise<HttpAnswer> | HttpAnswer =>
  isFile(found) ? serveFile(call.headers, found) : answer({ status: 200, body: found });

/**
 * Requires that the tenant of the path exists: the gateway has made it the tenant of the request, and an unknown tenant leaves that
 * empty.
 * @throws AppError not_found_error
 */
export function requireTenantOfPath({ params, principal }: HttpCall): void {
  if (params.tenant_name !== principal.tenant) throw notFound('Tenant', params.tenant_name!);
}
