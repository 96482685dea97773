/** gRPC credentials from certificate files; renewed files apply to connections that are made later. */
import type { Material, TlsSource } from '@baton/tls';
import {
  type ChannelCredentials,
  credentials,
  experimental,
  type Server as GrpcServer,
  ServerCredentials,
} from '@grpc/grpc-js';

type Provider = experimental.CertificateProvider;

/**
 * Passes the current certificates to each listener, and again after each change. Not at once: grpc-js adds the listener before it
 * can take the call.
 */
function listeners<T>(source: TlsSource, read: (material: Material) => T | null) {
  const known = new Map<(update: T | null) => void, () => void>();
  return {
    add(listener: (update: T | null) => void): void {
      known.set(
        listener,
        source.onChange((material) => listener(read(material))),
      );
      process.nextTick(() => listener(read(source.current())));
    },
    remove(listener: (update: T | null) => void): void {
      known.get(listener)?.();
      known.delete(listener);
    },
  };
}

function providerOf(source: TlsSource): Provider {
  const ca = listeners(source, (m): experimental.CaCertificateUpdate | null =>
    m.ca ? { caCertificate: m.ca } : null,
  );
  const identity = listeners(source, (m): experimental.IdentityCertificateUpdate | null =>
    m.cert && m.key ? { certificate: m.cert, privateKey: m.key } : null,
  );
  return {
    addCaCertificateListener: ca.add,
    removeCaCertificateListener: ca.remove,
    addIdentityCertificateListener: identity.add,
    removeIdentityCertificateListener: identity.remove,
  };
}

/**
 * Server credentials: callers must show a certificate of our CA. Without a source: no TLS. The minimum is that of Node, TLS 1.2.
 */
export function serverCredentials(source: TlsSource | undefined): Parameters<GrpcServer['bindAsync']>[1] {
  if (!source) return ServerCredentials.createInsecure();
  const provider = providerOf(source);
  return experimental.createCertificateProviderServerCredentials(provider, provider, true);
}

/** Client credentials: certificate and name of the server are checked, and ours is shown. Without a source: no TLS. */
export function channelCredentials(source: TlsSource | undefined): ChannelCredentials {
  if (!source) return credentials.createInsecure();
  const provider = providerOf(source);
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}
