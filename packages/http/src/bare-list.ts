import type { IncomingHttpHeaders } from 'node:http';

/**
 * Lists of v1 were bare arrays. The gateway asks for one by this header, and the service, which has the list as a value,
 * answers its items alone: nobody has to take an answer apart that is on its way.
 */
export const bareListHeader = 'x-baton-bare-list';

/** The items of the envelope where the request asks for them alone; any other body as it is. */
export function itemsOf(headers: IncomingHttpHeaders, body: unknown): unknown {
  if (headers[bareListHeader] === undefined || typeof body !== 'object' || body === null) return body;
  return 'items' in body ? body.items : body;
}
