import type { ApiVersion, ListPage, ListQuery } from '@baton/contracts';
import { listEnvelope } from '@baton/http';
import type { WorkflowEntry } from '../../domain/workflow-entries';
import type { ModelPage, WirePolicy } from '../wire-policy';
import { presentModification } from './modifications';
import { withRetired } from './retired-columns';

/** The wire of the original (docs/compatibility.md), whose later managers gave v2.1 the fields of v3. */
export const cloudifyWire: WirePolicy = {
  present: (_version, kind, item) => withRetired(kind, item),
  presentModification: (_version, item) => presentModification(item),
  presentDeployment,
  isAsStored: () => false,
  workflowPage,
  modelPage,
  skipsUnknown: true,
  showsDeleted: () => false,
  deletesAnyDependency: false,
  showsDeletedDependency: false,
  // The original's CLI counts the members of every group, and asks for no data.
  listsGroupMembers: true,
};

/** What the original shows where it does not tell the workflows: one entry of nothing. */
const UNTOLD_WORKFLOWS = [
  {
    name: null,
    plugin: null,
    operation: null,
    parameters: null,
    is_cascading: null,
    is_available: null,
    availability_rules: null,
  },
];

/**
 * The original tells the workflows only in single reads of v3.1 and in lists with `_get_data` (reference/rest-api.md 5.2).
 * The spec has them in every deployment.
 */
function presentDeployment(version: ApiVersion, item: Record<string, unknown>, tellsWorkflows: boolean) {
  const isUntold = 'workflows' in item && !(tellsWorkflows && version === 'v3.1');
  return withRetired('deployment', isUntold ? { ...item, workflows: UNTOLD_WORKFLOWS } : item);
}

/** Managers of the original pass over the page that is asked for, and say that this is all there is. */
function workflowPage(page: ListPage<WorkflowEntry>): object {
  return {
    items: page.items,
    metadata: { pagination: { total: page.total, offset: 0, size: page.items.length } },
  };
}

/** Managers of the original say there how much they have looked through. */
function modelPage(page: ModelPage, list: ListQuery): object {
  const { items, metadata } = listEnvelope(page, list);
  const total = page.total + (page.filtered ?? 0);
  return { items, metadata: { ...metadata, pagination: { offset: 0, size: items.length, total } } };
}
