import { createSecureContext } from 'node:tls';
import { FatalError } from '../errors';

/** How a server is known, and how the plugin shows itself to it. Texts are PEM. */
export interface TlsOptions {
  /** Certificates of the authorities that are believed, instead of the known ones. */
  ca?: string;
  /** Own certificate, with its chain. Needs `key`. */
  cert?: string;
  /** Private key of `cert`, without a passphrase. */
  key?: string;
  /** False: the server may be anybody. Default: true. */
  verify?: boolean;
  /** Name that the certificate of the server must have. Default: the host of the address. */
  serverName?: string;
}

/** The options as Node.js takes them. */
export const knownTls = ({ ca, cert, key, verify = true, serverName }: TlsOptions = {}) => ({
  ...(ca === undefined ? {} : { ca }),
  ...(cert === undefined ? {} : { cert, key }),
  ...(serverName === undefined ? {} : { servername: serverName }),
  ...(verify ? {} : { rejectUnauthorized: false }),
});

/** Options that were read before. */
const readable = new WeakSet<TlsOptions>();

/** @throws FatalError that names the part which cannot be read, and shows nothing of it */
export function requireReadable(tls: TlsOptions): void {
  if (readable.has(tls)) return;
  const { ca, cert, key } = tls;
  if ((cert === undefined) !== (key === undefined))
    throw new FatalError('http: tls: cert and key belong together: expected both or none');
  for (const [name, given] of [
    ['ca', { ca }],
    ['cert', { cert }],
    ['key', { key }],
  ] as const)
    try {
      // Some texts without any certificate are passed over silently.
      if (Object.values(given)[0]?.includes('-----BEGIN ') === false) throw new Error('no PEM');
      createSecureContext(given);
    } catch (cause) {
      throw new FatalError(`http: tls.${name}: expected PEM`, { cause });
    }
  readable.add(tls);
}
