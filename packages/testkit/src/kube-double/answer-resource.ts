import type { ServerResponse } from 'node:http';
import type { Address } from './address';
import { ApiError, notFound } from './api-error';
import { tokenOf } from './controllers';
import { deleteObject, deleteOptionsOf } from './deletion';
import { dictOf, type KubeObject } from './object';
import { apiVersionOf, type ResourceType } from './resources';
import { fieldSelector, labelSelector } from './selectors';
import type { Store } from './store';
import { tableOf } from './table';
import { watchObjects } from './watch';
import { createObject, parseBody, patchObject, replaceObject, type WriteRequest } from './write-object';

export interface Call {
  method: string;
  url: URL;
  accept: string;
  contentType: string;
  userAgent: string;
  body: Buffer;
}

/** Answers a request for a resource; a watch keeps the response. @throws ApiError */
export function answerResource(
  store: Store,
  type: ResourceType,
  address: Address,
  call: Call,
  response: ServerResponse,
): { code: number; body: unknown } | null {
  const { namespace, name, subresource } = address;
  const query = call.url.searchParams;
  if (subresource === 'log') return { code: 200, body: `log of ${name}\n` };
  if (subresource === 'token') return { code: 201, body: tokenRequest(namespace!, name!) };
  if (subresource === 'scale')
    return { code: 200, body: scale(writeRequest(store, type, address, call), call) };
  switch (call.method) {
    case 'GET':
      return name === undefined
        ? list(store, type, address, call, response)
        : get(store, type, address, call);
    case 'POST':
      return { code: 201, body: createObject(writeRequest(store, type, address, call)) };
    case 'PUT':
      return { code: 200, body: replaceObject(writeRequest(store, type, address, call)) };
    case 'PATCH': {
      const isThere = store.get(type, namespace, name!) !== undefined;
      const mediaType = call.contentType.split(';')[0]!.trim();
      return {
        code: isThere ? 200 : 201,
        body: patchObject(writeRequest(store, type, address, call), mediaType),
      };
    }
    case 'DELETE':
      return remove(store, type, address, query, call);
    default:
      throw new ApiError(
        405,
        'MethodNotAllowed',
        'the server does not allow this method on the requested resource',
      );
  }
}

function writeRequest(store: Store, type: ResourceType, address: Address, call: Call): WriteRequest {
  const { searchParams: query } = call.url;
  const { namespace, name, subresource } = address;
  return {
    store,
    type,
    namespace,
    name,
    subresource,
    body: parseBody(call),
    manager: query.get('fieldManager') ?? call.userAgent.split('/')[0]!,
    isForced: query.get('force') === 'true',
    isDryRun: query.has('dryRun'),
  };
}

function remove(
  store: Store,
  type: ResourceType,
  { namespace, name }: Address,
  query: URLSearchParams,
  call: Call,
): { code: number; body: unknown } {
  const options = deleteOptionsOf(dictOf(parseBody(call)), query);
  if (name !== undefined) {
    const { object, isGone } = deleteObject(store, type, namespace, name, options);
    if (!isGone) return { code: 200, body: object };
    const details = { name, group: type.group || undefined, kind: type.resource, uid: object.metadata.uid };
    return {
      code: 200,
      body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
    };
  }
  const wanted = wantedBy(query);
  const objects = store.list(type, namespace).filter(wanted);
  for (const { metadata } of objects) deleteObject(store, type, metadata.namespace, metadata.name, options);
  return { code: 200, body: listOf(type, objects, store) };
}

function wantedBy(query: URLSearchParams): (object: KubeObject) => boolean {
  const [byLabel, byField] = [
    labelSelector(query.get('labelSelector')),
    fieldSelector(query.get('fieldSelector')),
  ];
  return (object) => byLabel(object) && byField(object);
}

function list(store: Store, type: ResourceType, address: Address, call: Call, response: ServerResponse) {
  const { searchParams: query } = call.url;
  const isWanted = wantedBy(query);
  const isTable = call.accept.includes('as=Table');
  const isFull = query.get('includeObject') === 'Object';
  const versioned = (object: KubeObject): KubeObject => ({ ...object, apiVersion: apiVersionOf(type) });
  const table = (objects: readonly KubeObject[]): unknown =>
    tableOf(type.kind, objects.map(versioned), String(store.version), isFull);
  if (query.get('watch') === 'true' || query.get('watch') === '1') {
    const shown = (object: KubeObject): unknown => (isTable ? table([object]) : versioned(object));
    watchObjects({ store, type, namespace: address.namespace, query, isWanted, shown }, response);
    return null;
  }
  const objects = store.list(type, address.namespace).filter(isWanted);
  return { code: 200, body: isTable ? table(objects) : listOf(type, objects.map(versioned), store) };
}

const listOf = (type: ResourceType, items: readonly KubeObject[], store: Store): unknown => ({
  kind: `${type.kind}List`,
  apiVersion: apiVersionOf(type),
  metadata: { resourceVersion: String(store.version) },
  items,
});

function get(store: Store, type: ResourceType, { namespace, name }: Address, call: Call) {
  const found = store.get(type, namespace, name!);
  if (found === undefined) throw notFound(type, name!);
  const object = { ...found, apiVersion: apiVersionOf(type) };
  const body = call.accept.includes('as=Table')
    ? tableOf(
        type.kind,
        [object],
        object.metadata.resourceVersion,
        call.url.searchParams.get('includeObject') === 'Object',
      )
    : object;
  return { code: 200, body };
}

const tokenRequest = (namespace: string, account: string): unknown => ({
  kind: 'TokenRequest',
  apiVersion: 'authentication.k8s.io/v1',
  metadata: { name: account, namespace, creationTimestamp: null },
  spec: { audiences: [], expirationSeconds: 3600 },
  status: { token: tokenOf(namespace, account), expirationTimestamp: '2099-01-01T00:00:00Z' },
});

function scale(request: WriteRequest, call: Call): unknown {
  const { store, type, namespace, name } = request;
  const found = store.get(type, namespace, name!);
  if (found === undefined) throw notFound(type, name!);
  const replicas = dictOf(dictOf(request.body).spec).replicas;
  const patched =
    call.method === 'GET'
      ? found
      : patchObject(
          { ...request, subresource: undefined, body: { spec: { replicas } } },
          'application/merge-patch+json',
        );
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { ...patched.metadata, managedFields: undefined },
    spec: { replicas: patched.spec?.replicas },
    status: { replicas: Number(dictOf(found.status).replicas ?? 0) },
  };
}
