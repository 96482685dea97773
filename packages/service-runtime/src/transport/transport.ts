/** The certificates of one process, and the check whether its addresses are as safe as BATON_TLS demands. */
import type { Log } from '@baton/kernel';
import { Secret } from '@baton/kernel';
import { createTlsSource, type ServerTls, serverTls, TlsFileError, type TlsSource } from '@baton/tls';
import { ConfigError } from '../config/config';

export interface Transport {
  /** Our certificate among the services, with their CA. Null: rpc and HTTP between the services have no TLS. */
  inner: TlsSource | null;
  /** The certificate that users of the API see. Null: no TLS. */
  edge: TlsSource | null;
  /** Authorities for connections to PostgreSQL, RabbitMQ, Redis and the object store. Null: the system's authorities. */
  servers: TlsSource | null;
  close(): void;
}

/** Part of a service's configuration; only the gateway has the edge files. */
export interface TransportConfig {
  BATON_TLS: 'off' | 'on' | 'required';
  BATON_TLS_CA_FILE?: string | undefined;
  BATON_TLS_CERT_FILE?: string | undefined;
  BATON_TLS_KEY_FILE?: string | undefined;
  BATON_SERVERS_CA_FILE?: string | undefined;
  BATON_HTTPS_CERT_FILE?: string | undefined;
  BATON_HTTPS_KEY_FILE?: string | undefined;
}

/** Opens every certificate file in the configuration. @throws ConfigError naming variable and file. */
export function openTransport(config: TransportConfig, log: Log): Transport {
  const problems: string[] = [];
  const open = (
    variables: Partial<Record<'ca' | 'cert' | 'key', keyof TransportConfig>>,
  ): TlsSource | null => {
    const files = Object.fromEntries(
      Object.entries(variables).map(([part, variable]) => [part, config[variable]]),
    );
    try {
      return createTlsSource(files, { log });
    } catch (error) {
      if (!(error instanceof TlsFileError)) throw error;
      const variable = Object.values(variables).find((name) => config[name] === error.file);
      problems.push(`${variable}: ${error.message}`);
      return null;
    }
  };
  const inner =
    config.BATON_TLS === 'off'
      ? null
      : open({ ca: 'BATON_TLS_CA_FILE', cert: 'BATON_TLS_CERT_FILE', key: 'BATON_TLS_KEY_FILE' });
  const edge = config.BATON_HTTPS_CERT_FILE
    ? open({ cert: 'BATON_HTTPS_CERT_FILE', key: 'BATON_HTTPS_KEY_FILE' })
    : null;
  // Our certificate is shown only to servers of our own authority.
  const servers = config.BATON_SERVERS_CA_FILE ? open({ ca: 'BATON_SERVERS_CA_FILE' }) : inner;
  const close = (): void => {
    for (const source of [inner, edge, servers]) source?.close();
  };
  if (problems.length > 0) {
    close();
    throw new ConfigError(problems);
  }
  return { inner, edge, servers, close };
}

/** TLS of HTTP between the services: only the gateway forwards, so only the gateway may connect. */
export function innerHttpTls(transport: Transport | undefined): ServerTls | undefined {
  const inner = transport?.inner;
  return inner ? serverTls(inner, { needsClient: true, clients: ['gateway'] }) : undefined;
}

/** TLS for users of the API, who show no certificate. */
export function edgeTls(transport: Transport | undefined): ServerTls | undefined {
  const edge = transport?.edge;
  return edge ? serverTls(edge, { needsClient: false }) : undefined;
}

/** TLS of the ops port: probes and scrapers have no certificate. */
export function opsTls(transport: Transport | undefined): ServerTls | undefined {
  const inner = transport?.inner;
  return inner ? serverTls(inner, { needsClient: false }) : undefined;
}

type Rule = (address: string) => boolean;

const hasScheme =
  (scheme: string): Rule =>
  (address) =>
    address.startsWith(`${scheme}:`);

/** Whether certificate and name are checked, whatever other parameters an address has. */
const isVerifiedPostgres: Rule = (address) => {
  const parameters = new URLSearchParams(address.split('?', 2)[1] ?? '');
  return parameters.getAll('sslmode').join() === 'verify-full' && !parameters.has('uselibpqcompat');
};

const RULES: Record<string, { isSafe: Rule; expected: string }> = {
  DATABASE_URL: { isSafe: isVerifiedPostgres, expected: 'must have sslmode=verify-full' },
  AMQP_URL: { isSafe: hasScheme('amqps'), expected: 'must begin with amqps://' },
  REDIS_URL: { isSafe: hasScheme('rediss'), expected: 'must begin with rediss://' },
  BATON_S3_ENDPOINT: { isSafe: hasScheme('https'), expected: 'must begin with https://' },
  BATON_WORKER_MANAGER_URL: { isSafe: hasScheme('https'), expected: 'must begin with https://' },
};

/** The connections that a process really makes; its other addresses are not checked. */
export interface TransportUse {
  hasDatabase: boolean;
  /** Whether the API is served here. */
  isEdge: boolean;
  /** False: a job that calls no service and serves no requests. */
  isService?: boolean;
}

const textOf = (value: unknown): string | null =>
  value instanceof Secret ? (value.expose() as string) : typeof value === 'string' ? value : null;

/** Returns the settings that contradict BATON_TLS, one sentence each; addresses are not repeated, because they hold passwords. */
export function transportProblems(config: Record<string, unknown>, use: TransportUse): string[] {
  const mode = config.BATON_TLS;
  const problems: string[] = [];
  const halves = config.BATON_HTTPS_CERT_FILE === undefined && config.BATON_HTTPS_KEY_FILE !== undefined;
  if (halves) problems.push('BATON_HTTPS_CERT_FILE is missing (BATON_HTTPS_KEY_FILE is given)');
  if (mode === 'off' || mode === undefined) return problems;
  for (const name of ['BATON_TLS_CA_FILE', 'BATON_TLS_CERT_FILE', 'BATON_TLS_KEY_FILE'])
    if (use.isService !== false && config[name] === undefined)
      problems.push(`${name} is missing (needed by BATON_TLS=${mode})`);
  for (const [name, value] of Object.entries(config))
    if (name.startsWith('BATON_HTTP_') && typeof value === 'string' && !value.startsWith('https:'))
      problems.push(`${name}: must begin with https:// (BATON_TLS=${mode})`);
  if (mode !== 'required') return problems;
  if (use.isEdge && config.BATON_HTTPS_CERT_FILE === undefined)
    problems.push('BATON_HTTPS_CERT_FILE is missing (needed by BATON_TLS=required)');
  const unused = new Set([
    ...(use.hasDatabase || config.BATON_BROKER === 'postgres' ? [] : ['DATABASE_URL']),
    ...(config.BATON_BROKER === 'postgres' ? ['AMQP_URL'] : []),
    ...(config.BATON_BLOBS === 's3' ? [] : ['BATON_S3_ENDPOINT']),
  ]);
  for (const [name, { isSafe, expected }] of Object.entries(RULES)) {
    const address = textOf(config[name]);
    if (address !== null && !unused.has(name) && !isSafe(address))
      problems.push(`${name}: ${expected} (BATON_TLS=required)`);
  }
  return problems;
}
