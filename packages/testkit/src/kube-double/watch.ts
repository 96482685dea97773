import type { ServerResponse } from 'node:http';
import { afterDelay } from '@baton/kernel';
import type { KubeObject } from './object';
import { apiVersionOf, type ResourceType } from './resources';
import type { Store, StoredEvent } from './store';

export interface WatchRequest {
  store: Store;
  type: ResourceType;
  namespace: string | undefined;
  query: URLSearchParams;
  isWanted(object: KubeObject): boolean;
  /** The form in which the client wants an object. */
  shown(object: KubeObject): unknown;
}

const DEFAULT_TIMEOUT_S = 1_800;

/** Streams changes, a JSON object a line, until the client goes or the time is over. @throws ApiError 410 */
export function watchObjects(request: WatchRequest, response: ServerResponse): void {
  const { store, type, namespace, query, isWanted, shown } = request;
  const from = query.get('resourceVersion') ?? '';
  const isFromNow = from === '' || from === '0';
  const missed = isFromNow ? [] : store.eventsAfter(Number(from));
  response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
  response.flushHeaders();
  const send = (kind: string, object: unknown): void =>
    void response.write(`${JSON.stringify({ type: kind, object })}\n`);
  const tell = (event: StoredEvent): void => {
    if (event.group !== type.group || event.resource !== type.resource) return;
    if (namespace !== undefined && event.object.metadata.namespace !== namespace) return;
    // An object that begins or ends to match appears or disappears for the watcher.
    const was = event.before !== undefined && isWanted(event.before);
    const is = event.type !== 'DELETED' && isWanted(event.object);
    if (is) send(was ? 'MODIFIED' : 'ADDED', shown(event.object));
    else if (was) send('DELETED', shown(event.object));
  };
  if (isFromNow)
    for (const object of store.list(type, namespace).filter(isWanted)) send('ADDED', shown(object));
  for (const event of missed) tell(event);
  if (query.get('sendInitialEvents') === 'true') send('BOOKMARK', bookmark(store, type));
  const stop = store.listen(tell);
  const seconds = Number(query.get('timeoutSeconds') ?? DEFAULT_TIMEOUT_S);
  const cancel = afterDelay(seconds * 1000, () => response.end());
  response.on('close', () => {
    cancel();
    stop();
  });
}

const bookmark = (store: Store, type: ResourceType): unknown => ({
  kind: type.kind,
  apiVersion: apiVersionOf(type),
  metadata: {
    resourceVersion: String(store.version),
    creationTimestamp: null,
    annotations: { 'k8s.io/initial-events-end': 'true' },
  },
});
