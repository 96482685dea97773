/** The original product's default tenant, which every manager has. */
export const USUAL_TENANT = 'default_tenant';

/** First segment of addresses of no tenant; no tenant can have this name. */
const NO_TENANT = '-';

/**
 * Returns the tenant to load when the page opens, before the user is known: the tenant of the address, else the last shown one. A
 * wrong guess costs one request and shows nothing.
 */
export function openedTenant(pathname: string, last: string | null): string {
  const name = /^\/ui\/([^/]+)/.exec(pathname)?.[1];
  try {
    return name === undefined || name === NO_TENANT ? (last ?? USUAL_TENANT) : decodeURIComponent(name);
  } catch {
    return USUAL_TENANT;
  }
}
