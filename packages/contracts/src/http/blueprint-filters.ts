import { z } from 'zod';
import { defineRoutes } from '../route';
import { blueprintList, blueprints } from './blueprints';
import { filter, filterFields, filterList, filters, patchFilterBody, putFilterBody, searchBody } from './filters';
import { resourceId } from './shapes';

export const blueprintFilterRoutes = defineRoutes([
  {
    id: 'listBlueprintFilters', method: 'GET', path: '/filters/blueprints', owner: 'catalog', permission: 'filter_list', tenant: 'required',
    versions: ['v3.1'], summary: 'Stored filters of blueprints', spec: 'v3.1-part2 Filters', list: filterList, status: 200, response: filters,
  },
  {
    id: 'getBlueprintFilter', method: 'GET', path: '/filters/blueprints/:filter_id', owner: 'catalog', permission: 'filter_get',
    tenant: 'required', versions: ['v3.1'], summary: 'One stored filter of blueprints', spec: 'v3.1-part2 Filters', status: 200,
    response: filter, includeFields: filterFields,
  },
  {
    id: 'putBlueprintFilter', method: 'PUT', path: '/filters/blueprints/:filter_id', owner: 'catalog', permission: 'filter_create',
    tenant: 'required', versions: ['v3.1'], summary: 'Stores a filter of blueprints', spec: 'v3.1-part2 Filters',
    params: z.object({ filter_id: resourceId }), body: putFilterBody, status: 200, response: filter, includeFields: filterFields,
  },
  {
    id: 'patchBlueprintFilter', method: 'PATCH', path: '/filters/blueprints/:filter_id', owner: 'catalog', permission: 'filter_update',
    tenant: 'required', versions: ['v3.1'], summary: 'Changes rules or visibility of a stored filter', spec: 'v3.1-part2 Filters',
    body: patchFilterBody, status: 200, response: filter, includeFields: filterFields,
  },
  {
    id: 'deleteBlueprintFilter', method: 'DELETE', path: '/filters/blueprints/:filter_id', owner: 'catalog', permission: 'filter_delete',
    tenant: 'required', versions: ['v3.1'], summary: 'Deletes a stored filter', spec: 'v3.1-part2 Filters', status: 204,
  },
  {
    id: 'searchBlueprints', method: 'POST', path: '/searches/blueprints', owner: 'catalog', permission: 'blueprint_list', tenant: 'required',
    versions: ['v3.1'], summary: 'Blueprints that filter rules, constraints or a stored filter select', spec: 'v3.1-part2 Searches',
    list: blueprintList, body: searchBody, status: 200, response: blueprints,
  },
]);
