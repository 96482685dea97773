/** The way to an address of the manager: directly, or through an HTTP proxy with CONNECT. */
import { request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';

/** How hosts are reached. Both are read from the configuration first, then from the environment of the agent. */
export interface ProxySettings {
  /** `http://user:password@proxy:3128`; null: no proxy. */
  url: string | null;
  /** Hosts that are reached directly: names, endings (`.corp` or `corp`), `host:port`, `*`; separated by commas. */
  except: string;
}

/** Returns the settings of `HTTPS_PROXY` and `NO_PROXY`, in capitals or not. */
export function proxyOfEnvironment(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  const url = env.HTTPS_PROXY || env.https_proxy || null;
  return { url, except: env.NO_PROXY || env.no_proxy || '' };
}

/** Returns whether the proxy is left out for this host. */
export function isExcepted(except: string, host: string, port: number): boolean {
  const name = host.toLowerCase();
  return except
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*' || entry === name || entry === `${name}:${port}`) return true;
      const ending = entry.replace(/^\*/, '');
      return name.endsWith(ending.startsWith('.') ? ending : `.${ending}`);
    });
}

/**
 * Opens a connection to the port of the host. @throws Error that names the proxy, or what refused the connection
 */
export function openSocket(
  { host, port }: { host: string; port: number },
  proxy: ProxySettings,
  timeoutMs: number,
): Promise<Socket> {
  return proxy.url === null || isExcepted(proxy.except, host, port)
    ? direct(host, port, timeoutMs)
    : throughProxy(new URL(proxy.url), host, port, timeoutMs);
}

function direct(host: string, port: number, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true });
    const give = (then: () => void): void => {
      socket.setTimeout(0).removeAllListeners();
      then();
    };
    socket.setTimeout(timeoutMs, () =>
      give(() => {
        socket.destroy();
        reject(new Error(`no connection to ${host}:${port} within ${timeoutMs} ms`));
      }),
    );
    socket.once('error', (error) => give(() => reject(error)));
    socket.once('connect', () => give(() => resolve(socket)));
  });
}

function throughProxy(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Socket> {
  const shown = `the proxy ${proxy.protocol}//${proxy.host}`;
  const place = host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`;
  const who = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const asked = (proxy.protocol === 'https:' ? tlsRequest : request)({
      host: proxy.hostname,
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: place,
      headers: {
        host: place,
        ...(proxy.username && { 'proxy-authorization': `Basic ${Buffer.from(who).toString('base64')}` }),
      },
      timeout: timeoutMs,
      agent: false,
    });
    asked.once('connect', ({ statusCode }, socket, head) => {
      if (statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        return resolve(socket as Socket);
      }
      socket.destroy();
      reject(new Error(`${shown} answers CONNECT ${place} with status ${statusCode}`));
    });
    asked.once('response', (answer) => {
      answer.destroy();
      reject(new Error(`${shown} answers CONNECT ${place} with status ${answer.statusCode}`));
    });
    asked.once('timeout', () => asked.destroy(new Error(`${shown} did not answer within ${timeoutMs} ms`)));
    asked.once('error', (cause) => reject(new Error(`${shown}: ${cause.message}`, { cause })));
    asked.end();
  });
}
