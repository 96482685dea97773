import type { IncomingHttpHeaders } from 'node:http';

/** With this header the gateway tells a service that sets cookies that the request came over TLS. Outsiders cannot set it. */
export const httpsHeader = 'x-baton-https';

export const cameOverHttps = (headers: IncomingHttpHeaders): boolean => headers[httpsHeader] === 'yes';

/** With this header the gateway tells a service under which address (`https://manager.example`) a browser reached the manager. */
export const originHeader = 'x-baton-origin';

/** Returns that address; empty when the gateway could not read it. */
export const originOf = (headers: IncomingHttpHeaders): string => {
  const said = headers[originHeader];
  return typeof said === 'string' ? said : '';
};

/** With this header the gateway tells a service the address of the client, as limits count it: of IPv6 the /64 network. */
export const addressHeader = 'x-baton-address';

/** Returns that address; empty where the gateway does not tell it. */
export const addressOf = (headers: IncomingHttpHeaders): string => {
  const said = headers[addressHeader];
  return typeof said === 'string' ? said : '';
};
