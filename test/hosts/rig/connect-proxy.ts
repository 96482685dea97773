import { createServer, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';

/** An HTTP proxy, as those that stand between a host and its manager: CONNECT, and GET of plain HTTP. */
export interface ConnectProxy {
  /** http://[user:password@]address:port, as HTTPS_PROXY has it. */
  url: string;
  port: number;
  /** host:port of each tunnel that was opened. */
  tunnels: string[];
  /** Addresses that were fetched without a tunnel. */
  fetched: string[];
  /** Requests that were refused: other methods, or without the right credentials. */
  refused: string[];
  /** Number of tunnels that are open now. */
  open(): number;
  /** Resets the open tunnels; new ones work. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts a proxy at `host`. `credentials`: `user:password` that it asks for. */
export async function connectProxy(host: string, credentials?: string): Promise<ConnectProxy> {
  const tunnels: string[] = [];
  const refused: string[] = [];
  const fetched: string[] = [];
  const open = new Set<Socket>();
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const isRefused = ({ method, url, headers }: IncomingMessage): boolean => {
    if (!wanted || headers['proxy-authorization'] === wanted) return false;
    refused.push(`${method} ${url}`);
    return true;
  };
  const server = createServer((request, response) => {
    if (isRefused(request)) return response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
    const { method, url = '', headers } = request;
    if (method !== 'GET' || !url.startsWith('http://')) {
      refused.push(`${method} ${url}`);
      return response.writeHead(405).end();
    }
    fetched.push(url);
    const { 'proxy-authorization': _, 'proxy-connection': __, ...passed } = headers;
    get(url, { headers: passed, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    }).on('error', () => response.destroy());
  });
  server.on('connect', (request, client: Socket, head: Buffer) => {
    client.on('error', () => undefined);
    if (isRefused(request)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    const [name = '', port = ''] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), name === 'manager' ? host : name);
    upstream.once('connect', () => {
      tunnels.push(request.url ?? '');
      open.add(client);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    const end = (): void => {
      open.delete(client);
      client.destroy();
      upstream.destroy();
    };
    upstream.on('error', end).on('close', end);
    client.on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as { port: number };
  const cut = (): void => {
    for (const client of [...open]) client.resetAndDestroy();
  };
  return {
    url: `http://${credentials ? `${credentials}@` : ''}${host}:${port}`,
    port,
    tunnels,
    fetched,
    refused,
    open: () => open.size,
    cut,
    close: async () => {
      cut();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
