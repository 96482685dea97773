import { jsonText, RawJson } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import { workflowEntries } from '../domain/workflow-entries';
import { modelFields, planFields } from '../store/deployment-columns.sql';

/** A selected row: response fields, JSON ones as texts, and pseudo columns from which other fields are made. */
export type SelectedDeployment = Record<string, unknown> & {
  /** Digest of the shared document. */
  model_?: string | null;
  /** JSON list as text. */
  node_types_?: string | null;
  /** Distinct states of the node instances as JSON texts, between commas. */
  states_?: string | null;
};
export type PresentedDeployment = Record<string, unknown>;

/** Shared documents by digest. */
export type Models = ReadonlyMap<string, unknown>;

/** Fields of the original that are always null; clients may read them. */
const EMPTY: Record<string, unknown> = { permalink: null, workdir_zip: null };
const NOTHING = new RawJson('{}');
const NO_ENTRIES = new RawJson('[]');
/** Fields that come from the database as JSON texts. */
const RAW_FIELDS = [...planFields.filter((name) => !modelFields.includes(name)), 'labels'];
const NO_REST = new RawJson('}');
/** Length of a SHA-256 in hex. */
const DIGEST_LENGTH = 64;
const FRAGMENT_BYTES = 16 * 1024 * 1024;

/** Parts of answers that deployments of one model share; the key holds everything on which a part depends. */
export type FragmentCache = LRUCache<string, RawJson>;

export function createFragmentCache(): FragmentCache {
  return new LRUCache({
    maxSize: FRAGMENT_BYTES,
    sizeCalculation: (one) => Math.max(1, 3 * one.text.length),
  });
}

/** Returns the text that follows the record of a deployment with these states and this shared part (see `deploymentRecord`). */
export function restOfRecord(
  states: string,
  shared: string,
  models: Models,
  fragments: FragmentCache,
  include: string[] | null,
): RawJson {
  const row = { model_: modelOf(shared), node_types_: shared.slice(DIGEST_LENGTH + 1), states_: states };
  const fields = [...Object.keys(EMPTY), ...modelFields].filter((name) => include?.includes(name) ?? true);
  if (fields.length === 0) return NO_REST;
  return new RawJson(`,${jsonText(presentDeployment(row, models, fragments, fields)).slice(1)}`);
}

/** Returns the digest of the model in the shared part of a record; empty when it was not selected. */
export const modelOf = (shared: string): string => shared.slice(0, DIGEST_LENGTH);

/** Returns the object of REST; large parts of it are raw texts. */
export function presentDeployment(
  row: SelectedDeployment,
  models: Models,
  fragments: FragmentCache,
  include: string[] | null,
): PresentedDeployment {
  const {
    model_: model,
    node_types_: nodeTypes,
    states_: states,
    one_: _one,
    nth_: _nth,
    total_: _total,
    ...fields
  } = row;
  const isWanted = (name: string): boolean => include === null || include.includes(name);
  for (const name in EMPTY) if (isWanted(name)) fields[name] = EMPTY[name];
  for (const name of RAW_FIELDS) {
    if (!isWanted(name)) continue;
    const text = fields[name];
    fields[name] = typeof text === 'string' && text !== '{}' ? new RawJson(text) : NOTHING;
  }
  for (const name of modelFields) {
    if (!isWanted(name)) continue;
    fields[name] =
      name === 'workflows'
        ? workflowsOf(fragments, models, model ?? '', states ?? '', nodeTypes ?? '')
        : partOf(fragments, models, model ?? '', name);
  }
  return fields;
}

const partOfModel = (models: Models, digest: string, name: string): unknown =>
  (models.get(digest) as Record<string, unknown> | undefined)?.[name];

function partOf(fragments: FragmentCache, models: Models, digest: string, name: string): RawJson {
  return remembered(fragments, `${digest} ${name}`, () => {
    const value = partOfModel(models, digest, name);
    return value === undefined || value === null ? NOTHING : new RawJson(JSON.stringify(value));
  });
}

/** Returns the workflows. Their availability depends on the model, the types of its nodes and the states of the instances. */
function workflowsOf(
  fragments: FragmentCache,
  models: Models,
  digest: string,
  states: string,
  nodeTypes: string,
): RawJson {
  return remembered(fragments, `${digest} ${states} ${nodeTypes}`, () => {
    const entries = workflowEntries(partOfModel(models, digest, 'workflows'), {
      states: JSON.parse(`[${states}]`) as string[],
      nodeTypes: nodeTypes === '' ? [] : (JSON.parse(nodeTypes) as string[]),
    });
    return entries.length === 0 ? NO_ENTRIES : new RawJson(JSON.stringify(entries));
  });
}

function remembered(fragments: FragmentCache, key: string, make: () => RawJson): RawJson {
  let found = fragments.get(key);
  if (!found) fragments.set(key, (found = make()));
  return found;
}
