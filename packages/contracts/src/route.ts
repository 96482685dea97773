import type { z } from 'zod';

/** The services of a manager: all but its workers, which come and go. */
export const managerServices = [
  'gateway',
  'identity',
  'catalog',
  'deployments',
  'executions',
  'secrets',
  'cluster-status',
] as const;
export type ManagerService = (typeof managerServices)[number];

export type ServiceName = ManagerService | 'worker';

export type ApiVersion = 'v2.1' | 'v3.1';

/** One REST route: the only place that says its path, owner, permission, schemas and where the spec has it. */
export interface RouteContract {
  /** Operation id, unique: listBlueprints. */
  id: string;
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Below /api/<version>; parameters as `:name`; a last segment `*` takes the rest. */
  path: string;
  owner: ServiceName;
  /** Permission name; `login` = any user that is logged in; `none` = no credentials needed. */
  permission: string;
  /** required: 403 without a tenant; none: the header is ignored. */
  tenant: 'required' | 'optional' | 'none';
  versions: readonly ApiVersion[];
  summary: string;
  /** Document and chapter: `v3.1-part1 Blueprints` or `reference 5.1`. */
  spec: string;
  params?: z.ZodType;
  query?: z.ZodType;
  /** Present on list routes: query conventions apply, unknown plain parameters are refused. */
  list?: ListContract;
  /** JSON body; absent: no body is read. */
  body?: z.ZodType;
  /** archive: the raw stream is handed to the handler (octet-stream, multipart or chunked). text: up to 1 MiB of text. */
  rawBody?: 'archive' | 'text';
  /** Body keys may be absent as a whole (DELETE with an optional body). */
  isBodyOptional?: boolean;
  /** A null where a key of the body may be absent is a wrong value; elsewhere it reads as absent (clients send their None). */
  isNullRefused?: boolean;
  /** On the original's wire what is not announced as JSON is bad input, and a charset may follow (reference/rest-api.md 1.4). */
  isBodyReadPlainly?: boolean;
  status: 200 | 201 | 204;
  /** Absent with 204. */
  response?: z.ZodType;
  /** stream: octet-stream download; events: server-sent events; text: plain text. */
  responseKind?: 'json' | 'stream' | 'events' | 'text';
  /** Writes answered with `_include` carry only those fields. */
  includeFields?: readonly string[];
  /** Response fields in v2.1 where they are others: what `_include` may name there. */
  legacyFields?: readonly string[];
  /** Allowed to an execution's own token without the role check (reference 2.1). */
  isAllowedToExecution?: boolean;
  /** Refused to the token of an execution that is being cancelled: it would begin what nobody stops (reference 1.3). */
  isRefusedWhileCancelling?: boolean;
  /** Who does not hold the permission in the tenant gets through as well: the service shows them what is global only. */
  reachesGlobal?: boolean;
  /** The tenant is the one of the file that header X-Original-Uri names (reference 5.30). */
  isTenantOfUri?: boolean;
  /** With permission `none`: who sends a credential is told to the service, which judges itself. */
  isCredentialRead?: boolean;
  /** In the spec, but gone from the latest original: 404 under BATON_WIRE=cloudify. */
  isGoneFromOriginal?: boolean;
  /** What it writes is a record itself or the work of an execution: left out of the audit log. */
  isNotAudited?: boolean;
  /** Answered during maintenance mode (reference 5.20). */
  isOpenInMaintenance?: boolean;
}

/** flag: true or false; texts: may be repeated. */
export type ExtraParameter = 'flag' | 'text' | 'texts';

export interface ListContract {
  /** Response fields: what `_include` may name. */
  fields: readonly string[];
  /** The original passes over names in `_include` that are no fields; so does BATON_WIRE=cloudify. */
  isIncludeLoose?: true;
  /** What the original does not read on this list and so passes over, whatever it says; so does BATON_WIRE=cloudify. */
  passedOver?: readonly (
    | 'filters'
    | 'other filters'
    | '_include'
    | '_sort'
    | '_size'
    | '_offset'
    | '_all_tenants'
  )[];
  /** Plain query parameters that filter by equality. */
  filters: readonly string[];
  sorts: readonly string[];
  /** Further plain parameters are passed over instead of refused (reference 3.2 note 1). */
  ignoresOthers?: true;
  /** Column that `_search` looks in; absent: ignored. */
  search?: string;
  /** Column that `_search_name` looks in beside it; absent: ignored. */
  searchName?: string;
  /** Further parameters of the list: only these reach its handler, as `extra`, and all of them are described. */
  extra?: Readonly<Record<`_${string}`, ExtraParameter>>;
  defaultSort: readonly { field: string; descending: boolean }[];
  /** Default 1000; events 10000. */
  defaultSize?: number;
  allowsAllTenants: boolean;
  allowsGetAll: boolean;
}

/** A list request after packages/http has checked it against its ListContract. */
export interface ListQuery {
  /** Fields asked for, null = all. */
  include: string[] | null;
  /** field -> values (OR); an empty list means IS NULL. */
  filters: Record<string, string[]>;
  sort: { field: string; descending: boolean }[];
  size: number;
  offset: number;
  search: string | null;
  searchName: string | null;
  allTenants: boolean;
  getAll: boolean;
  /** The `_size` and `_offset` to answer where they are not what is read: of a list with everything. */
  echo?: { size: number; offset: number };
  /** Whether the request names `_size` and `_offset`; absent of a list that no request asks for. */
  asked?: { size: boolean; offset: boolean };
  /** Values of the contract's `extra` parameters that were given: _filter_id, _group_id, _get_data, ... */
  extra: Record<string, string[]>;
}

/** A list request that asks for no more than `some`: the first thousand, all their fields. */
export const listQuery = (some: Partial<ListQuery> = {}): ListQuery => ({
  include: null,
  filters: {},
  sort: [],
  size: 1000,
  offset: 0,
  search: null,
  searchName: null,
  allTenants: false,
  getAll: false,
  extra: {},
  ...some,
});

export interface ListPage<T> {
  items: T[];
  total: number;
  /** Rows that filter rules removed; null unless rules applied. */
  filtered?: number | null;
}

/** Types a table of routes and refuses double ids. */
export function defineRoutes<const T extends readonly RouteContract[]>(routes: T): T {
  const ids = new Set<string>();
  for (const route of routes) {
    if (ids.has(route.id)) throw new Error(`route ${route.id} is defined twice`);
    ids.add(route.id);
  }
  return routes;
}
