import { randomUUID } from 'node:crypto';
import { parse } from 'yaml';
import { ApiError, alreadyExists, badRequest, conflict, notFound } from './api-error';
import { checkObject } from './check-object';
import { addDefaults, allocate } from './defaults';
import { recordUpdate, serverSideApply, type Writer } from './managed-fields';
import { type Dict, dictOf, isDict, isSame, type KubeObject } from './object';
import { jsonPatch, mergePatch, strategicMergePatch } from './patches';
import { suffix } from './pods';
import { fromProtobuf } from './protobuf';
import { apiVersionOf, type ResourceType } from './resources';
import type { Store } from './store';

export interface WriteRequest {
  store: Store;
  type: ResourceType;
  namespace: string | undefined;
  name: string | undefined;
  subresource?: string;
  /** The parsed body. */
  body: unknown;
  manager: string;
  isForced: boolean;
  isDryRun: boolean;
}

export function createObject(request: WriteRequest): KubeObject {
  const object = objectOf(request);
  const { metadata } = object;
  if (metadata.generateName !== undefined && !metadata.name)
    metadata.name = `${metadata.generateName}${suffix()}`;
  if (metadata.resourceVersion)
    throw badRequest('resourceVersion should not be set on objects to be created');
  if (request.store.get(request.type, metadata.namespace, metadata.name) !== undefined)
    throw alreadyExists(request.type, metadata.name);
  return finish(request, undefined, object, (fresh) => recordUpdate(undefined, fresh, writerOf(request)));
}

export function replaceObject(request: WriteRequest): KubeObject {
  const before = existing(request);
  const object = objectOf(request);
  requireVersion(request, before, object.metadata.resourceVersion);
  return update(request, before, object);
}

/** `mediaType`: one of the four kinds of patches. @throws ApiError 404, 409, 415, 422 */
export function patchObject(request: WriteRequest, mediaType: string): KubeObject {
  if (mediaType === 'application/apply-patch+yaml') return applyObject(request);
  const before = existing(request);
  const base = structuredClone(before);
  const patched = patchOf(mediaType, request)(base, request.body) as KubeObject;
  const wanted = dictOf(dictOf(request.body).metadata).resourceVersion;
  if (wanted !== undefined) requireVersion(request, before, String(wanted));
  return update(request, before, patched);
}

function patchOf(mediaType: string, { type }: WriteRequest): (live: unknown, patch: unknown) => unknown {
  switch (mediaType) {
    case 'application/json-patch+json':
      return jsonPatch;
    case 'application/merge-patch+json':
      return mergePatch;
    case 'application/strategic-merge-patch+json':
      if (!type.isCustom) return strategicMergePatch;
      break;
  }
  throw new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml`,
  );
}

function applyObject(request: WriteRequest): KubeObject {
  const { store, type, name, isForced } = request;
  const config = objectOf(request);
  if (config.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  if (config.metadata.name !== name)
    throw badRequest(`the name of the object does not match the URL: ${name}`);
  const writer = writerOf(request);
  // stringData is write-only: its fields live on in data.
  if (type.kind === 'Secret') addDefaults(config);
  const before = store.get(type, config.metadata.namespace, name!);
  if (before === undefined) {
    const empty = {
      apiVersion: config.apiVersion,
      kind: config.kind,
      metadata: config.metadata,
    } as KubeObject;
    const fresh = structuredClone(empty);
    fresh.metadata = { ...fresh.metadata, labels: undefined, annotations: undefined } as never;
    const made = serverSideApply(withoutUndefined(fresh), config, writer, isForced);
    return finish(request, undefined, made, () => undefined);
  }
  const made = serverSideApply(before, config, writer, isForced);
  made.apiVersion = config.apiVersion;
  return finish(request, before, made, () => undefined);
}

const withoutUndefined = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

function update(request: WriteRequest, before: KubeObject, changed: KubeObject): KubeObject {
  const { subresource } = request;
  // Writes of the status change nothing else, and the others do not change the status.
  const hasStatus = request.type.subresources.includes('status');
  const after =
    subresource === 'status'
      ? { ...structuredClone(before), status: changed.status }
      : { ...changed, ...(hasStatus ? { status: before.status } : {}) };
  if (after.status === undefined) delete after.status;
  return finish(request, before, after, (fresh) => recordUpdate(before, fresh, writerOf(request)));
}

function finish(
  { store, type, isDryRun }: WriteRequest,
  before: KubeObject | undefined,
  object: KubeObject,
  record: (fresh: KubeObject) => void,
): KubeObject {
  stripNulls(object);
  if (!type.isCustom) addDefaults(object);
  requireNamespace(store, type, object, before);
  const { metadata } = object;
  metadata.uid = before?.metadata.uid ?? randomUUID();
  metadata.creationTimestamp = before?.metadata.creationTimestamp ?? store.now();
  metadata.resourceVersion = before?.metadata.resourceVersion ?? '';
  if (before?.metadata.deletionTimestamp !== undefined)
    metadata.deletionTimestamp = before.metadata.deletionTimestamp;
  else delete metadata.deletionTimestamp;
  const hasChanged = before !== undefined && !isSame(withoutMeta(before), withoutMeta(object));
  if (object.spec !== undefined && type.resource !== 'services')
    metadata.generation = (before?.metadata.generation ?? 0) + (before === undefined || hasChanged ? 1 : 0);
  record(object);
  allocate(object, before);
  checkObject(type, object, before);
  if (isDryRun) return object;
  return store.put(type, object);
}

/** Absent and null are the same for a server. */
function stripNulls(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (inner === null && !Array.isArray(value)) delete (value as Dict)[name];
    else stripNulls(inner);
  }
}

const withoutMeta = ({ metadata: _, status: __, ...rest }: KubeObject): Dict => rest;

function requireNamespace(
  store: Store,
  type: ResourceType,
  object: KubeObject,
  before: KubeObject | undefined,
): void {
  if (!type.isNamespaced || before !== undefined) return;
  const namespaces = { group: '', resource: 'namespaces' };
  const found = store.get(namespaces, undefined, object.metadata.namespace!);
  if (found === undefined)
    throw notFound({ group: '', resource: 'namespaces', kind: 'Namespace' }, object.metadata.namespace!);
  if (found.metadata.deletionTimestamp !== undefined)
    throw new ApiError(
      403,
      'Forbidden',
      `${type.resource} "${object.metadata.name}" is forbidden: unable to create new content in namespace ${found.metadata.name} because it is being terminated`,
    );
}

const existing = ({ store, type, namespace, name }: WriteRequest): KubeObject => {
  const found = store.get(type, namespace, name!);
  if (found === undefined) throw notFound(type, name!);
  return found;
};

function requireVersion({ type, name }: WriteRequest, before: KubeObject, version: string | undefined): void {
  if (version && version !== before.metadata.resourceVersion)
    throw conflict(
      type,
      name!,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
}

function objectOf({ body, type, namespace, name }: WriteRequest): KubeObject {
  if (!isDict(body)) throw badRequest('the body is no object');
  const object = structuredClone(body) as unknown as KubeObject;
  object.apiVersion ??= apiVersionOf(type);
  object.kind ??= type.kind;
  object.metadata = { ...dictOf(object.metadata) } as unknown as KubeObject['metadata'];
  if (name !== undefined) object.metadata.name ??= name;
  if (!type.isNamespaced) delete object.metadata.namespace;
  else if ((object.metadata.namespace ??= namespace) !== namespace)
    throw badRequest(
      `the namespace of the provided object does not match the namespace sent on the request: ${object.metadata.namespace}, ${namespace}`,
    );
  if (name !== undefined && object.metadata.name !== name)
    throw badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`,
    );
  return object;
}

const writerOf = ({ manager, subresource, store, type }: WriteRequest): Writer => ({
  manager,
  subresource,
  time: store.now(),
  isCustom: type.isCustom,
});

/** @throws ApiError 400 for a body that is neither JSON nor YAML, 415 for most kinds of protobuf */
export function parseBody({ body, contentType }: { body: Buffer; contentType: string }): unknown {
  if (body.length === 0) return {};
  if (contentType.includes('protobuf')) return fromProtobuf(body);
  const text = body.toString('utf8');
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : parse(text);
  } catch (error) {
    throw badRequest(`error decoding the body: ${(error as Error).message}`);
  }
}
