import type { IncomingHttpHeaders } from 'node:http';

/**
 * Lists of v1 were bare arrays. The gateway requests one by this header. The service, which has the list as a value, then sends
 * only its items. So the gateway need not parse an answer that it forwards.
 */
export const bareListHeader = 'x-baton-bare-list';

/** Returns the items of the envelope where the request asks for a bare list; any other body unchanged. */
export function itemsOf(headers: IncomingHttpHeaders, body: unknown): unknown {
  if (headers[bareListHeader] === undefined || typeof body !== 'object' || body === null) return body;
  return 'items' in body ? body.items : body;
}
