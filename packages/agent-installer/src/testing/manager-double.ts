import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type InstallPackage, readInstallChoices } from '../script/options';
import { renderInstallScript } from '../script/render';
import { type PackageServer, packageServer } from './package-server';

type Body = Record<string, unknown>;

/** The REST routes of agents with their records in memory, for operations whose other side is a real host. */
export interface ManagerDouble {
  url: string;
  packages: PackageServer;
  records: Map<string, Body>;
  /** Fields of GET /agent-connections/{name}, beside those that a record without a stream has. */
  connection: Body;
  /** States that records got, in order. */
  states: string[];
  /** Bodies of POST /agents/{name}/enrolment. */
  enrolments: Body[];
  /** The token of the next enrolments. */
  token: string;
  /** Packages that scripts name; null: that of `packages`. */
  served: InstallPackage[] | null;
  upgrades: Body[];
  stop(): Promise<void>;
}

export async function managerDouble(): Promise<ManagerDouble> {
  const packages = await packageServer();
  const made: ManagerDouble = {
    url: '',
    packages,
    records: new Map(),
    connection: {},
    states: [],
    enrolments: [],
    token: 'good',
    served: null,
    upgrades: [],
    stop: async () => {
      await packages.stop();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  const server = createServer((request, response) => void answer(made, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return made;
}

async function answer(
  made: ManagerDouble,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const body = (text === '' ? {} : JSON.parse(text)) as Body;
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname).replace('/api/v3.1', '');
  const [, resource, name = '', action] = path.split('/');
  const route = `${request.method} ${resource}${action === undefined ? '' : `/${action}`}`;
  const found = routes[route]?.(made, name, body);
  if (found === undefined) send(response, 404, { message: `no ${path}`, error_code: 'not_found_error' });
  else send(response, 200, found);
}

function send(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify(body));
}

type Route = (made: ManagerDouble, name: string, body: Body) => object | undefined;
const routes: Readonly<Record<string, Route>> = {
  'PUT agents': ({ records, states }, name, body) => {
    if (records.has(name)) return { name: null };
    records.set(name, body);
    states.push(String(body.state));
    return { name, ...body };
  },
  'PATCH agents': ({ records, states }, name, body) => {
    const record = records.get(name);
    if (record === undefined) return undefined;
    states.push(String(body.state));
    return Object.assign(record, body);
  },
  'DELETE agents': ({ records }, name) => (records.delete(name) ? { name } : undefined),
  'POST agents/enrolment': (made, name, body) => {
    if (!made.records.has(name)) return undefined;
    made.enrolments.push(body);
    const choices = readInstallChoices(body.options as Body);
    const own = { name, nodeInstanceId: String(made.records.get(name)!.node_instance_id), token: made.token };
    const served = made.served === null ? {} : { packages: made.served };
    const options = made.packages.options({ ...own, ...choices, ...served });
    return {
      name,
      token: made.token,
      expires_at: '2026-01-01T00:00:00Z',
      addresses: options.addresses,
      authorities: options.authorities,
      script: renderInstallScript(options),
      script_url: `${made.url}/agent/v1/install/link${made.enrolments.length}`,
    };
  },
  'GET agent-connections': ({ records, connection }, name) =>
    records.has(name)
      ? {
          name,
          is_connected: false,
          state: records.get(name)!.state,
          last_seen: null,
          version: null,
          wanted_version: null,
          about: null,
          ...connection,
        }
      : undefined,
  'POST agent-upgrades': ({ upgrades, packages }, _name, body) => {
    upgrades.push(body);
    return { number_of_agents: 1, version: packages.package.version };
  },
};
