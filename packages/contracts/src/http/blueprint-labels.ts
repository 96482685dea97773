import { z } from 'zod';
import { defineRoutes } from '../route';
import { labelList, labelTexts } from './labels';
import { resourceId } from './shapes';

export const blueprintLabelRoutes = defineRoutes([
  {
    id: 'listBlueprintLabelKeys',
    method: 'GET',
    path: '/labels/blueprints',
    owner: 'catalog',
    permission: 'labels_list',
    tenant: 'required',
    versions: ['v3.1'],
    summary: 'Label keys of blueprints; with _reserved=true the reserved ones',
    spec: 'v3.1-part1 Blueprints',
    list: { ...labelList, extra: { _reserved: 'flag' } },
    status: 200,
    response: labelTexts,
  },
  {
    id: 'listBlueprintLabelValues',
    method: 'GET',
    path: '/labels/blueprints/:label_key',
    owner: 'catalog',
    permission: 'labels_list',
    tenant: 'required',
    versions: ['v3.1'],
    summary: 'Values of one label key of blueprints',
    spec: 'v3.1-part1 Blueprints',
    params: z.object({ label_key: resourceId }),
    list: labelList,
    status: 200,
    response: labelTexts,
  },
]);
