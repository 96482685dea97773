import { z } from 'zod';
import { defineRoutes } from '../route';
import { labelList, labelTexts } from './labels';
import { resourceId } from './shapes';

const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'v3.1-part1 Deployments',
  permission: 'labels_list',
} as const;

/** Keys and values of the labels in use (reference/rest-api.md 4.2): envelopes of texts. */
export const deploymentLabelsRoutes = defineRoutes([
  {
    id: 'listDeploymentLabelKeys',
    method: 'GET',
    path: '/labels/deployments',
    ...own,
    summary: 'Label keys of deployments',
    list: { ...labelList, search: 'key', extra: { _reserved: 'flag' } },
    status: 200,
    response: labelTexts,
  },
  {
    id: 'listDeploymentLabelValues',
    method: 'GET',
    path: '/labels/deployments/:key',
    ...own,
    summary: 'Values of one label key',
    params: z.object({ key: resourceId }),
    list: labelList,
    status: 200,
    response: labelTexts,
  },
]);
