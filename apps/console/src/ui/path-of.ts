/** Returns an address below `/ui` from arbitrary parts. Links to known routes use the router's typed paths instead. */
export const pathOf = (...parts: string[]): string => `/${parts.map(encodeURIComponent).join('/')}`;
