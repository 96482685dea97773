import { type ClientTls, lastingClientTls } from './sockets';
import type { TlsSource } from './source';

/** Options for `new pg.Client` and `new pg.Pool`. */
export interface PostgresConnection {
  connectionString: string;
  ssl?: ClientTls;
}

/** Modes in which the driver checks certificate and host name: it treats all of them as verify-full. */
const VERIFIED = new Set(['prefer', 'require', 'verify-ca', 'verify-full']);

/**
 * Returns the connection options for `url`. Its `sslmode` decides whether TLS is used. The trusted authorities come from its own
 * `sslrootcert`, else from `trust`, else from the system. Parameters of the address override `ssl` in the driver, so `sslmode` is
 * removed where we set `ssl`.
 */
export function postgresConnection(url: string, trust: TlsSource | null | undefined): PostgresConnection {
  const query = url.indexOf('?');
  if (!trust || query < 0) return { connectionString: url };
  const parameters = new URLSearchParams(url.slice(query + 1));
  const mode = parameters.get('sslmode');
  if (mode === null || !VERIFIED.has(mode) || parameters.has('sslrootcert')) return { connectionString: url };
  parameters.delete('sslmode');
  const rest = parameters.toString();
  return {
    connectionString: url.slice(0, query) + (rest === '' ? '' : `?${rest}`),
    ssl: lastingClientTls(trust),
  };
}
