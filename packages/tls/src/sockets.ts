/** Options of a certificate source for servers and clients of node:tls. */
import type { ConnectionOptions, Server, TLSSocket, TlsOptions } from 'node:tls';
import { dnsNames } from './material';
import type { TlsSource } from './source';

/** TLS 1.3 is used wherever the other side supports it. */
const MIN_VERSION = 'TLSv1.2';

export interface ServerTls {
  /** Options for `createServer` of node:tls, node:https or node:http2. */
  options(): TlsOptions;
  /** Applies renewed certificates to new connections; old connections go on. Call the returned function when the server closes. */
  attach(server: Pick<Server, 'setSecureContext' | 'on'>): () => void;
}

export interface ServerTlsOptions {
  /** Clients must show a certificate of our CA. */
  needsClient: boolean;
  /** Services that may connect, as first labels of the names in client certificates; absent: every client of our CA. */
  clients?: readonly string[];
}

/** `executions.baton.svc` becomes `executions`. */
const labelOf = (name: string): string => name.split('.', 1)[0]!;

/** Returns the services that a certificate names. */
export const certifiedServices = (
  certificate: { subjectaltname?: string | undefined } | undefined,
): string[] => dnsNames(certificate?.subjectaltname).map(labelOf);

/** Returns the services that the other side's certificate names. */
const peerServices = (socket: Pick<TLSSocket, 'getPeerCertificate'>): string[] =>
  certifiedServices(socket.getPeerCertificate());

export function serverTls(source: TlsSource, o: ServerTlsOptions): ServerTls {
  const context = (): TlsOptions => {
    const { ca, cert, key } = source.current();
    return {
      cert: cert ?? undefined,
      key: key ?? undefined,
      minVersion: MIN_VERSION,
      ...(o.needsClient && { ca: ca ?? undefined }),
    };
  };
  return {
    options: () => ({ ...context(), requestCert: o.needsClient, rejectUnauthorized: o.needsClient }),
    attach(server) {
      const { clients } = o;
      if (clients)
        server.on('secureConnection', (socket) => {
          if (!peerServices(socket).some((name) => clients.includes(name))) socket.destroy();
        });
      return source.onChange(() => server.setSecureContext(context()));
    },
  };
}

export interface ClientTls {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
  minVersion: NonNullable<ConnectionOptions['minVersion']>;
}

/**
 * Options for one connection made now: the trusted authorities and our certificate. The name of the other side is always checked.
 */
export function clientTls(source: TlsSource): ClientTls {
  const { ca, cert, key } = source.current();
  return {
    minVersion: MIN_VERSION,
    ...(ca && { ca }),
    ...(cert && key && { cert, key }),
  };
}

/**
 * `clientTls` for libraries that keep one options object for all their connections and copy it for each: each copy has the content
 * of the files at that moment.
 */
export function lastingClientTls(source: TlsSource): ClientTls {
  const present: ClientTls = { minVersion: MIN_VERSION };
  for (const part of ['ca', 'cert', 'key'] as const) {
    if (clientTls(source)[part])
      // Configurable: the driver of PostgreSQL redefines the property, so that printing its options does not show the key.
      Object.defineProperty(present, part, {
        enumerable: true,
        configurable: true,
        get: () => clientTls(source)[part],
      });
  }
  return present;
}
