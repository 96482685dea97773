/** The original product's default tenant, which every manager has. */
export const USUAL_TENANT = 'default_tenant';

/**
 * Returns the tenant to load when the page opens, before the user is known: the tenant of the address, else the last shown one. A
 * wrong guess costs one request and shows nothing.
 */
export function openedTenant(pathname: string, last: string | null): string {
  const name = /^\/ui\/([^/]+)/.exec(pathname)?.[1];
  try {
    return name === undefined ? (last ?? USUAL_TENANT) : decodeURIComponent(name);
  } catch {
    return USUAL_TENANT;
  }
}
