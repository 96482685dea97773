import { z } from 'zod';
import { defineRoutes } from '../route';
import { execution } from './executions';
import { columnsOf } from './list-columns';
import { bodyFlag, envelope, ownedFields, resourceId } from './shapes';

/** Log bundle (reference/rest-api.md 5.13). */
const logBundle = z
  .object({
    ...ownedFields,
    id: z.string(),
    status: z.enum(['creating', 'created', 'failed']),
    error: z.string(),
  })
  .meta({ id: 'LogBundle' });
const logBundleFields = Object.keys(logBundle.shape);

const columns = columnsOf(logBundle);
const own = {
  owner: 'cluster-status',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'reference 5.13',
} as const;
const path = '/log-bundles/:log_bundle_id';

export const logBundleRoutes = defineRoutes([
  {
    ...own,
    id: 'listLogBundles',
    method: 'GET',
    path: '/log-bundles',
    permission: 'log_bundle_list',
    summary: 'Log bundles',
    list: {
      fields: logBundleFields,
      filters: columns,
      sorts: columns,
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(logBundle),
  },
  {
    ...own,
    id: 'getLogBundle',
    method: 'GET',
    path,
    permission: 'log_bundle_get',
    summary: 'One log bundle',
    includeFields: logBundleFields,
    status: 200,
    response: logBundle,
  },
  {
    ...own,
    id: 'createLogBundle',
    method: 'PUT',
    path,
    permission: 'log_bundle_create',
    summary: 'Packs events, findings of the doctor, configuration and status of the manager',
    params: z.object({ log_bundle_id: resourceId }),
    body: z.object({ queue: bodyFlag.nullish() }),
    isBodyOptional: true,
    status: 201,
    response: execution.partial(),
  },
  {
    ...own,
    id: 'deleteLogBundle',
    method: 'DELETE',
    path,
    permission: 'log_bundle_delete',
    summary: 'Deletes a log bundle that is not being made; answers it',
    status: 200,
    response: logBundle,
  },
  {
    ...own,
    id: 'downloadLogBundle',
    method: 'GET',
    path: `${path}/archive`,
    permission: 'log_bundle_download',
    summary: 'The archive of a log bundle: a zip',
    status: 200,
    responseKind: 'stream',
  },
]);
