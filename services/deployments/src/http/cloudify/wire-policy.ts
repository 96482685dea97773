import type { ApiVersion, ListPage, ListQuery } from '@baton/contracts';
import { listEnvelope } from '@baton/http';
import type { WorkflowEntry } from '../../domain/workflow-entries';
import type { ModelPage, WirePolicy } from '../wire-policy';
import { presentModification } from './modifications';
import { originalTexts } from './refusal-texts';
import { withRetired } from './retired-columns';

/** The answers of the original API (docs/compatibility.md), whose later managers gave v2.1 the fields of v3. */
export const cloudifyWire: WirePolicy = {
  present: (_version, kind, item) => withRetired(kind, item),
  presentModification: (_version, item) => presentModification(item),
  presentDeployment,
  isAsStored: () => false,
  workflowPage,
  modelPage,
  skipsUnknown: true,
  showsUpdateChanges: false,
  showsDeleted: () => false,
  deletesAnyDependency: false,
  showsDeletedDependency: false,
  // The original refuses only numbers below zero (reference/workflows.md 1.10).
  boundsScaling: false,
  texts: originalTexts,
  // The CLI of the original counts the members of every group without asking for data.
  listsGroupMembers: true,
};

/** Placeholder that the original shows where it omits the workflows: one entry of nulls. */
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
 * The original shows the workflows only in single reads of v3.1 and in lists with `_get_data` (reference/rest-api.md 5.2). The
 * specification has them in every deployment.
 */
function presentDeployment(version: ApiVersion, item: Record<string, unknown>, tellsWorkflows: boolean) {
  const isUntold = 'workflows' in item && !(tellsWorkflows && version === 'v3.1');
  return withRetired('deployment', isUntold ? { ...item, workflows: UNTOLD_WORKFLOWS } : item);
}

/** Managers of the original ignore the requested page, and answer that the list is complete. */
function workflowPage(page: ListPage<WorkflowEntry>): object {
  return {
    items: page.items,
    metadata: { pagination: { total: page.total, offset: 0, size: page.items.length } },
  };
}

/** Managers of the original give in `pagination` the number of items that they have searched. */
function modelPage(page: ModelPage, list: ListQuery): object {
  const { items, metadata } = listEnvelope(page, list);
  const total = page.total + (page.filtered ?? 0);
  return { items, metadata: { ...metadata, pagination: { offset: 0, size: items.length, total } } };
}
