import type { ApiVersion, ListPage, ListQuery } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { listEnvelope } from '@baton/http';
import { type RefusalTexts, specTexts } from '../domain/refusal-texts';
import type { WorkflowEntry } from '../domain/workflow-entries';

export type Kind =
  | 'deployment'
  | 'deploymentUpdate'
  | 'modification'
  | 'node'
  | 'nodeInstance'
  | 'pluginsUpdate';
/** Kinds that v2.1 shows in a form of its own. */
type LegacyKind = 'deployment' | 'node' | 'nodeInstance';
type Item = Record<string, unknown>;
export type ModelPage = ListPage<Item>;

/** Differences between the wires. `service.ts` builds one policy and gives it to the routes. */
export interface WirePolicy {
  /** Converts an object, or some of its fields, from the form of v3.1 for this version of the API. */
  present(version: ApiVersion, kind: Kind, item: Item): Item;
  /** Converts a deployment modification, and the copies of node instances in it. */
  presentModification(version: ApiVersion, item: Item): Item;
  /** Converts a deployment. `tellsWorkflows`: it is a single read, or in a list with `_get_data`. */
  presentDeployment(version: ApiVersion, item: Item, tellsWorkflows: boolean): Item;
  /** Whether this version of the API shows deployments in the form that the database assembles. */
  isAsStored(version: ApiVersion): boolean;
  workflowPage(page: ListPage<WorkflowEntry>, list: ListQuery): object;
  /** Answers with a page of a search through models. */
  modelPage(page: ModelPage, list: ListQuery): object;
  /** Whether searches ignore unknown constraints instead of refusing them. */
  skipsUnknown: boolean;
  /** Whether a single read of an update shows its changes, with the values before and after. */
  showsUpdateChanges: boolean;
  /** Whether a delete returns the deployment as it was. Otherwise it answers 204. */
  showsDeleted(version: ApiVersion): boolean;
  /** Whether a delete that matches several dependencies deletes one of them. Otherwise it deletes none. */
  deletesAnyDependency: boolean;
  /** Whether a delete returns the dependency as it was. Otherwise it answers 204. */
  showsDeletedDependency: boolean;
  /** Whether `min_instances` and `max_instances` limit modifications and scaling. Otherwise they limit only the blueprint's own number. */
  boundsScaling: boolean;
  texts: RefusalTexts;
  /** Whether lists of groups always include the members. Otherwise only with `_get_data`. */
  listsGroupMembers: boolean;
}

/** The wire of the specification. */
export const specWire: WirePolicy = {
  present: presentSpec,
  presentModification: (version, item) => presentSpec(version, 'modification', item),
  presentDeployment: (version, item) => presentSpec(version, 'deployment', item),
  isAsStored: (version) => version === 'v3.1',
  workflowPage: listEnvelope,
  modelPage: listEnvelope,
  skipsUnknown: false,
  showsUpdateChanges: true,
  showsDeleted: (version) => version === 'v2.1',
  deletesAnyDependency: true,
  showsDeletedDependency: true,
  boundsScaling: true,
  texts: specTexts,
  listsGroupMembers: false,
};

function presentSpec(version: ApiVersion, kind: Kind, item: Item): Item {
  return version === 'v2.1' && isLegacyKind(kind) ? legacy(kind, item) : item;
}

const isLegacyKind = (kind: Kind): kind is LegacyKind => kind in legacyFields;

const LEGACY_TIMES = ['created_at', 'updated_at'];

function legacy(kind: LegacyKind, item: Item): Item {
  const known = (legacyFields[kind] as readonly string[]).filter((name) => name in item);
  return Object.fromEntries(
    known.map((name) => [name, LEGACY_TIMES.includes(name) ? legacyTime(item[name]) : item[name]]),
  );
}

/** Converts to `2026-11-21 02:46:17.123000`: no zone, microseconds. */
function legacyTime(iso: unknown): unknown {
  return typeof iso === 'string' ? `${iso.slice(0, 10)} ${iso.slice(11, 23)}000` : iso;
}
