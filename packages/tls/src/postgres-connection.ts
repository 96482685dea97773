import { type ClientTls, lastingClientTls } from './sockets';
import type { TlsSource } from './source';

/** For `new pg.Client` and `new pg.Pool`. */
export interface PostgresConnection {
  connectionString: string;
  ssl?: ClientTls;
}

/** Modes of the driver that check certificate and host name: it reads them all as verify-full. */
const VERIFIED = new Set(['prefer', 'require', 'verify-ca', 'verify-full']);

/**
 * How to reach `url`. Whether by TLS is said by its `sslmode`; whom it trusts by its own `sslrootcert`, else by `trust`,
 * else by the system. The driver lets what is in the address win over `ssl`, so what we decide is taken out of it.
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
