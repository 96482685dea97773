/** What servers and clients of node:tls need of a source. */
import type { ConnectionOptions, Server, TLSSocket, TlsOptions } from 'node:tls';
import { dnsNames } from './material';
import type { TlsSource } from './source';

/** TLS 1.3 is taken wherever the other side has it. */
const MIN_VERSION = 'TLSv1.2';

export interface ServerTls {
  /** For `createServer` of node:tls, node:https or node:http2. */
  options(): TlsOptions;
  /** New connections get renewed certificates from then on, old ones go on; call the answer when the server closes. */
  attach(server: Pick<Server, 'setSecureContext' | 'on'>): () => void;
}

export interface ServerTlsOptions {
  /** Clients must show a certificate of our CA. */
  needsClient: boolean;
  /** First labels of the names of clients that may connect; absent: every client of our CA. */
  clients?: readonly string[];
}

/** `executions.baton.svc` is `executions`. */
const labelOf = (name: string): string => name.split('.', 1)[0]!;

/** The services that a certificate speaks for. */
export const certifiedServices = (
  certificate: { subjectaltname?: string | undefined } | undefined,
): string[] => dnsNames(certificate?.subjectaltname).map(labelOf);

/** The services that the other side's certificate speaks for. */
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

/** For one connection that is made now: whom it trusts and what it shows. The name of the other side is always checked. */
export function clientTls(source: TlsSource): ClientTls {
  const { ca, cert, key } = source.current();
  return {
    minVersion: MIN_VERSION,
    ...(ca && { ca }),
    ...(cert && key && { cert, key }),
  };
}

/**
 * The same for libraries that keep one options object for all their connections and copy it for each: what they copy is
 * what the files hold by then.
 */
export function lastingClientTls(source: TlsSource): ClientTls {
  const present: ClientTls = { minVersion: MIN_VERSION };
  for (const part of ['ca', 'cert', 'key'] as const) {
    if (clientTls(source)[part])
      // Configurable: the driver of PostgreSQL hides the key from whoever prints its options.
      Object.defineProperty(present, part, {
        enumerable: true,
        configurable: true,
        get: () => clientTls(source)[part],
      });
  }
  return present;
}
