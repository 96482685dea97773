// Requests to the API. Every shape can be sent to the manager and, as its SQL statements, to the bare server.
import type { LoadRequest } from '../load/generator';
import { deploymentIdOf, ENVIRONMENTS, type SeedSizes, TEAMS } from '../seed/sizes';

export interface ApiRequest extends LoadRequest {
  /** The text of the path that also occurs in the statements: it is passed to the bare server. */
  argument: string;
}

export interface ApiShape {
  name: string;
  /** The first request is the sample whose statements are recorded. */
  requests: ApiRequest[];
}

const API = '/api/v3.1';
const ASKED_FOR = 1_000;
/** Fields of a table of deployments. */
const LEAN =
  'id,display_name,blueprint_id,created_at,created_by,visibility,installation_status,deployment_status';
const CREATED = { prefix: 'bench-', probe: 'bench-probe' };
export const WRITTEN_SITES = `${CREATED.prefix}%`;

/** Returns `count` numbers spread over 1..most, always the same. */
function spreadOver(most: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => 1 + ((i * 7_919) % most));
}

export interface SeededFacts {
  sizes: SeedSizes;
  /** Ids of executions of deployments in the middle of the year. */
  executions: string[];
  /** Instants between which events lie. */
  from: string[];
}

const get = (path: string): ApiShape['requests'] => [{ path: `${API}${path}`, argument: '' }];

/** More pages than parallel requests: parallel requests of the same page are read only once. */
const PAGES = 32;
const pagesFrom = (offset: number, more = ''): ApiShape['requests'] =>
  Array.from({ length: PAGES }, (_, i) => ({
    path: `${API}/deployments?_size=50&_offset=${offset + i}${more}`,
    argument: '',
  }));

export function apiShapes({ sizes, executions, from }: SeededFacts): ApiShape[] {
  const { deployments } = sizes;
  const day = 86_400_000;
  return [
    {
      name: 'single',
      requests: spreadOver(deployments, ASKED_FOR)
        .map(deploymentIdOf)
        .map((id) => ({ path: `${API}/deployments/${id}`, argument: id })),
    },
    { name: 'list50', requests: pagesFrom(0) },
    { name: 'list50 same page', requests: get('/deployments?_size=50') },
    { name: 'list50 middle', requests: pagesFrom(Math.floor(deployments / 2)) },
    { name: 'list50 deepest', requests: pagesFrom(deployments - 50 - PAGES) },
    { name: 'list50lean', requests: pagesFrom(0, `&_include=${LEAN}`) },
    { name: 'list1000', requests: get('/deployments?_size=1000') },
    { name: 'list1000lean', requests: get(`/deployments?_size=1000&_include=${LEAN}`) },
    { name: 'label, 1 in 100', requests: labelSearches('team', 't', TEAMS) },
    { name: 'label, 1 in 10', requests: labelSearches('env', 'e', ENVIRONMENTS) },
    { name: 'label, one', requests: labelSearches('serial', 's', Math.min(deployments, ASKED_FOR)) },
    {
      name: 'events of execution',
      requests: executions.map((id) => ({
        path: `${API}/events?_size=50&execution_id=${id}`,
        argument: id,
      })),
    },
    {
      name: 'events of a day',
      requests: from.map((iso) => ({
        path: `${API}/events?_size=50&_range=timestamp,${iso},${new Date(Date.parse(iso) + day).toISOString()}`,
        argument: '',
      })),
    },
    {
      name: 'site write',
      requests: [
        {
          method: 'PUT',
          path: `${API}/sites/${CREATED.prefix}{n}`,
          body: { location: '51.5,-0.1' },
          argument: CREATED.probe,
        },
      ],
    },
  ];
}

function labelSearches(key: string, prefix: string, count: number): ApiRequest[] {
  return Array.from({ length: Math.min(count, 100) }, (_, i) => ({
    method: 'POST',
    path: `${API}/searches/deployments?_size=50`,
    body: {
      filter_rules: [
        { key, values: [`${prefix}${i + (key === 'serial' ? 1 : 0)}`], operator: 'any_of', type: 'label' },
      ],
    },
    argument: '',
  }));
}

/** Returns the request of a shape that is sent to record its statements, which are taken from the third time (nth 2). */
export function sampleOf(shape: ApiShape, nth: number): ApiRequest {
  const first = shape.requests[0]!;
  return {
    ...first,
    path: first.path.replace(`${CREATED.prefix}{n}`, `${CREATED.probe}${nth === 2 ? '' : nth}`),
  };
}

/** Returns the same requests for the bare server. */
export function bareRequests(shape: ApiShape): LoadRequest[] {
  const name = encodeURIComponent(shape.name);
  return shape.requests.map(({ path, argument }) => ({
    path: `/${name}/${path.includes('{n}') ? `${CREATED.prefix}bare-{n}` : argument}`,
  }));
}
