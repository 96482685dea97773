/** Client for the manager that served this page. Requests use the session cookie. */
import { type Client, createClient } from '@baton/client';

/** A page of another origin cannot send this header without a CORS preflight. The gateway requires it for each change. */
const OWN_REQUEST = { 'x-baton-request': '1' };

const ownFetch =
  (send: typeof fetch): typeof fetch =>
  (input, init) =>
    send(input, { ...init, credentials: 'same-origin', headers: { ...init?.headers, ...OWN_REQUEST } });

export interface OwnClientOptions {
  /** Default tenant, for calls without a tenant. */
  tenant?: string;
  /** Wraps the fetch function, to observe streams open and break. */
  watch?: (send: typeof fetch) => typeof fetch;
  /** Replaces the browser's fetch when that is not enough: an upload with progress. */
  send?: typeof fetch;
}

export function createOwnClient({
  tenant,
  watch = (one) => one,
  // `fetch` is looked up at each call: browser tests may replace it.
  send = (input, init) => fetch(input, init),
}: OwnClientOptions = {}): Client {
  return createClient({ baseUrl: window.location.origin, tries: 3, tenant, fetch: watch(ownFetch(send)) });
}
