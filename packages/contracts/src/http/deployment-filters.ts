import { z } from 'zod';
import { defineRoutes } from '../route';
import { createdFields, envelope, instant, ownedFields, resourceId, visibility } from './deployments-shapes';
import { columnsOf } from './list-columns';

const rule = z.object({
  key: z.string(),
  values: z.array(z.string()),
  operator: z.string(),
  type: z.string(),
});

/** Filter (spec v3.1 part 2 "Filter and filter rule", reference/rest-api.md 5.11). */
const filter = z
  .object({
    id: z.string(),
    ...ownedFields,
    value: z.array(rule),
    labels_filter_rules: z.array(rule),
    attrs_filter_rules: z.array(rule),
    updated_at: instant,
    is_system_filter: z.boolean(),
  })
  .meta({ id: 'DeploymentFilter' });
const filterFields = Object.keys(filter.shape);

const params = z.object({ id: resourceId });
const path = '/filters/deployments';
const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'v3.1-part2 Filters',
} as const;
// The model of filter rules checks the rules: its errors name the wrong rule.
const rules = z.unknown();

export const deploymentFiltersRoutes = defineRoutes([
  {
    id: 'listDeploymentFilters',
    method: 'GET',
    path,
    ...own,
    permission: 'filter_list',
    summary: 'Lists filters for deployments',
    list: {
      fields: filterFields,
      filters: columnsOf(filter),
      ignoresOthers: true,
      sorts: columnsOf(filter),
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(filter),
  },
  {
    id: 'getDeploymentFilter',
    method: 'GET',
    path: `${path}/:id`,
    ...own,
    permission: 'filter_get',
    summary: 'Reads one filter',
    params,
    includeFields: filterFields,
    status: 200,
    response: filter,
  },
  {
    id: 'createDeploymentFilter',
    method: 'PUT',
    path: `${path}/:id`,
    ...own,
    permission: 'filter_create',
    summary: 'Creates a filter',
    params,
    body: z.object({
      filter_rules: rules.refine((value) => value !== undefined, 'is required'),
      visibility: visibility.optional(),
      ...createdFields,
    }),
    includeFields: filterFields,
    status: 200,
    response: filter,
  },
  {
    id: 'updateDeploymentFilter',
    method: 'PATCH',
    path: `${path}/:id`,
    ...own,
    permission: 'filter_update',
    summary: 'Changes rules or visibility',
    params,
    body: z.object({ filter_rules: rules.optional(), visibility: visibility.optional() }),
    includeFields: filterFields,
    status: 200,
    response: filter,
  },
  {
    id: 'deleteDeploymentFilter',
    method: 'DELETE',
    path: `${path}/:id`,
    ...own,
    permission: 'filter_delete',
    summary: 'Deletes a filter',
    params,
    status: 204,
  },
]);
