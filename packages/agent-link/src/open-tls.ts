import { connect, type TLSSocket } from 'node:tls';
import { AGENT_SERVER_NAME } from '@baton/contracts';
import { openSocket, type ProxySettings } from './proxy';

/** What the agent trusts and shows; PEM. */
export interface Credentials {
  /** The authorities of the agents' listener. */
  authorities: string;
  /** Absent: before the enrolment. */
  certificate?: string | undefined;
  key?: string | undefined;
}

/** An address of the manager, as `https://host:port`. Both schemes are reached by TLS: the listener tells them apart. */
export interface ManagerPlace {
  host: string;
  port: number;
}

/** Returns host and port of an address. @throws Error for what is none */
export function placeOf(address: string): ManagerPlace {
  const { protocol, hostname, port } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new Error(`${address}: expected http:// or https://`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/**
 * Opens TLS to the agents' listener at `place`: the pinned authorities must have signed its certificate for AGENT_SERVER_NAME.
 * @throws Error that says what failed
 */
export async function openTls(
  place: ManagerPlace,
  credentials: Credentials,
  proxy: ProxySettings,
  { connectMs, tlsMs }: { connectMs: number; tlsMs: number },
): Promise<TLSSocket> {
  const socket = await openSocket(place, proxy, connectMs);
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      servername: AGENT_SERVER_NAME,
      ca: credentials.authorities,
      cert: credentials.certificate,
      key: credentials.key,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
    });
    const fail = (error: Error): void => {
      secured.destroy();
      socket.destroy();
      reject(error);
    };
    secured.setTimeout(tlsMs, () => fail(new Error(`no TLS within ${tlsMs} ms`)));
    secured.once('error', fail);
    secured.once('secureConnect', () => {
      secured.setTimeout(0).removeAllListeners('timeout');
      secured.removeListener('error', fail);
      resolve(secured);
    });
  });
}
