import type { ApiVersion, ListPage, ListQuery } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { listEnvelope } from '@baton/http';
import type { WorkflowEntry } from '../domain/workflow-entries';

export type Kind =
  | 'deployment'
  | 'deploymentUpdate'
  | 'modification'
  | 'node'
  | 'nodeInstance'
  | 'pluginsUpdate';
/** Those of which v2.1 has a form of its own. */
type LegacyKind = 'deployment' | 'node' | 'nodeInstance';
type Item = Record<string, unknown>;
export type ModelPage = ListPage<Item>;

/** What differs between the wires. `service.ts` builds one and gives it to the routes. */
export interface WirePolicy {
  /** An object, whole or some of its fields in the form of v3.1, as this version of the API shows it. */
  present(version: ApiVersion, kind: Kind, item: Item): Item;
  /** A deployment modification, and the copies of node instances in it. */
  presentModification(version: ApiVersion, item: Item): Item;
  /** A deployment. `tellsWorkflows`: it is read alone, or in a list with `_get_data`. */
  presentDeployment(version: ApiVersion, item: Item, tellsWorkflows: boolean): Item;
  /** Whether this version of the API shows deployments in the form in which the database puts them together. */
  isAsStored(version: ApiVersion): boolean;
  workflowPage(page: ListPage<WorkflowEntry>, list: ListQuery): object;
  /** A page of what was found by looking through models. */
  modelPage(page: ModelPage, list: ListQuery): object;
  /** Whether searches pass over constraints that they do not know, instead of refusing them. */
  skipsUnknown: boolean;
  /** Whether a delete answers the deployment as it was. Otherwise it answers 204. */
  showsDeleted(version: ApiVersion): boolean;
  /** Whether a delete that fits several dependencies takes one of them. Otherwise it takes none. */
  deletesAnyDependency: boolean;
  /** Whether a delete answers the dependency as it was. Otherwise it answers 204. */
  showsDeletedDependency: boolean;
  /** Whether lists of groups always have their members. Otherwise they have them with `_get_data`. */
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
  showsDeleted: (version) => version === 'v2.1',
  deletesAnyDependency: true,
  showsDeletedDependency: true,
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

/** `2026-11-21 02:46:17.123000`: no zone, microseconds. */
function legacyTime(iso: unknown): unknown {
  return typeof iso === 'string' ? `${iso.slice(0, 10)} ${iso.slice(11, 23)}000` : iso;
}
