import type { request as plainRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { FatalError } from '../errors';

/** The address of a proxy. @throws FatalError */
export function proxyOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new FatalError('http: proxy: expected http://host:port or https://host:port');
  return url;
}

/** Where the proxy listens. */
export const hostOf = ({ protocol, hostname, port }: URL) => ({
  protocol,
  hostname: hostname.replace(/^\[|\]$/g, ''),
  port,
});

/** The header by which the user of a proxy shows himself; nothing when the address names none. */
export function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/**
 * Opens a connection to the host of `url` through a proxy. TLS then goes from end to end: the proxy sees the name of the host only.
 * @throws Error when the proxy refuses; its answer is not shown, since it could stand for an answer of the host
 */
export function tunnelTo(
  url: URL,
  proxy: URL,
  request: typeof plainRequest,
  signal: AbortSignal,
): Promise<Duplex> {
  const to = `${url.hostname}:${url.port || 443}`;
  return new Promise((resolve, reject) => {
    const asked = request({
      ...hostOf(proxy),
      method: 'CONNECT',
      path: to,
      headers: { host: to, ...authorizationOf(proxy) },
      agent: false,
      signal,
    });
    asked.once('error', reject);
    asked.once('connect', (answer, socket: Socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`the proxy ${proxy.host} answered ${answer.statusCode}`));
    });
    // A proxy that does not know CONNECT answers as to any request.
    asked.once('response', (answer) => {
      answer.destroy();
      reject(new Error(`the proxy ${proxy.host} answered ${answer.statusCode}`));
    });
    asked.end();
  });
}
