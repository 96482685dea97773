/**
 * Checks that a page of the manager itself made a sign-in or a request with a session cookie. Browsers send cookies with requests
 * of other sites, too.
 */
import { AppError } from '@baton/kernel';

/**
 * Header that the console sends with each request. A page of another origin can send it only after a preflight request, which the
 * browser makes.
 */
export const MARKER = 'x-baton-request';

export interface BrowserRequest {
  method: string;
  /** Headers Origin, Sec-Fetch-Site and x-baton-request; empty: not sent. */
  origin: string;
  fetchSite: string;
  marker: string;
  /** Scheme, host and port under which this request reached the manager; empty: unknown. */
  ownOrigin: string;
}

interface Fault {
  field: string;
  expected: string;
}

/**
 * Returns the header that shows that the request comes from another site; null when no header shows it.
 * @param needsMarker true for a change with a session cookie. A sign-in has no cookie that another site could use.
 */
export function crossSiteFault(request: BrowserRequest, needsMarker: boolean): Fault | null {
  const { origin, fetchSite, marker, ownOrigin } = request;
  if (origin !== '' && (ownOrigin === '' || origin.toLowerCase() !== ownOrigin))
    return { field: 'Origin', expected: ownOrigin === '' ? 'a readable Host header' : ownOrigin };
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  // none: the user has typed the address, or follows a bookmark.
  const sites = isRead ? ['same-origin', 'none'] : ['same-origin'];
  if (fetchSite !== '' && !sites.includes(fetchSite.toLowerCase()))
    return { field: 'Sec-Fetch-Site', expected: 'same-origin' };
  if (needsMarker && !isRead && marker !== '1') return { field: MARKER, expected: '1' };
  return null;
}

/** @throws AppError cross_site_request_error */
export function requireOwnSite(request: BrowserRequest, needsMarker: boolean): void {
  const fault = crossSiteFault(request, needsMarker);
  if (!fault) return;
  // The administrator who configured the proxy reads this hint in the browser and in the log.
  const hint =
    fault.field === 'Origin'
      ? '; behind a proxy that ends TLS or changes the host, BATON_TRUSTED_PROXIES must name it'
      : '';
  throw new AppError(
    'cross_site_request_error',
    `Header \`${fault.field}\` does not show that a page of this manager makes the request${hint}`,
    { ...fault },
  );
}
