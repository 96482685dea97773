import type { z } from 'zod';

/** The services of a manager: all except its workers, which come and go. */
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

/** One REST route: the single definition of its path, owner, permission, schemas and place in the spec. */
export interface RouteContract {
  /** Operation id, unique: listBlueprints. */
  id: string;
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below /api/<version>; parameters as `:name`; a last segment `*` matches the rest. */
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
  /** archive: the handler gets the raw stream (octet-stream, multipart or chunked). text: up to 1 MiB of text. */
  rawBody?: 'archive' | 'text';
  /** The whole body may be absent (DELETE with an optional body). */
  isBodyOptional?: boolean;
  /** A null for an optional key of the body is a wrong value. Without this flag null counts as absent (clients send their None). */
  isNullRefused?: boolean;
  /**
   * On the original's wire: a body with another content type than JSON is bad input; a charset may follow
   * (reference/rest-api.md 1.4).
   */
  isBodyReadPlainly?: boolean;
  /** 303: the answer leads a browser on. */
  status: 200 | 201 | 204 | 303;
  /** Absent with 204 and 303. */
  response?: z.ZodType;
  /** stream: octet-stream download; events: server-sent events; text: plain text. */
  responseKind?: 'json' | 'stream' | 'events' | 'text';
  /** Fields that `_include` may name on a route that is no list; the answer then has only the named ones. */
  includeFields?: readonly string[];
  /** Response fields of v2.1, where they differ: the names that `_include` accepts there. */
  legacyFields?: readonly string[];
  /** An execution's own token may call the route without the role check (reference 2.1). */
  isAllowedToExecution?: boolean;
  /**
   * The token of an execution that is being cancelled may not call the route: it would begin work that is never stopped
   * (reference 1.3).
   */
  isRefusedWhileCancelling?: boolean;
  /** Callers without the permission in the tenant are let through too: the service shows them only global resources. */
  reachesGlobal?: boolean;
  /** The tenant is that of the file in the header X-Original-Uri (reference 5.30). */
  isTenantOfUri?: boolean;
  /** With permission `none`: the service still learns the caller of a request with credentials, and decides itself. */
  isCredentialRead?: boolean;
  /**
   * For routes of a browser's session. opens: the body is the credential, which the gateway reads; headers with
   * credentials are ignored. shows and closes: only a caller with a session cookie gets an answer, all others 401.
   * begins and returns: the two ends of a sign-in at an identity provider. No credential is read, and the service learns under
   * which address the browser reached the manager.
   * asks: a program asks a person for a login. No credential is read, and the service learns under which address the program
   * reached the manager, and from which address it comes.
   * judges: only a caller with a session cookie may answer such a request; the service learns the caller's address.
   */
  session?: 'opens' | 'shows' | 'closes' | 'begins' | 'returns' | 'asks' | 'judges';
  /** The route is in the spec, but was removed from the latest original: 404 under BATON_WIRE=cloudify. */
  isGoneFromOriginal?: boolean;
  /** The route writes a record itself or work of an execution: left out of the audit log. */
  isNotAudited?: boolean;
  /** The route is available during maintenance mode (reference 5.20). */
  isOpenInMaintenance?: boolean;
}

/** flag: true or false; texts: may be repeated. */
export type ExtraParameter = 'flag' | 'text' | 'texts';

export interface ListContract {
  /** Response fields: the names that `_include` accepts. */
  fields: readonly string[];
  /** The original ignores unknown names in `_include`; so does BATON_WIRE=cloudify. */
  isIncludeLoose?: true;
  /** Parameters that the original ignores on this list, whatever their value; so does BATON_WIRE=cloudify. */
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
  /** Unknown plain parameters are ignored instead of refused (reference 3.2 note 1). */
  ignoresOthers?: true;
  /** Column that `_search` searches; absent: `_search` is ignored. */
  search?: string;
  /** Additional column that `_search_name` searches; absent: it is ignored. */
  searchName?: string;
  /** Additional parameters of the list: only these reach its handler, as `extra`, and all of them are documented. */
  extra?: Readonly<Record<`_${string}`, ExtraParameter>>;
  defaultSort: readonly { field: string; descending: boolean }[];
  /** Default 1000; events 10000. */
  defaultSize?: number;
  allowsAllTenants: boolean;
  allowsGetAll: boolean;
  /** Pages may be read from a cursor: `_after`, with `_total`. */
  hasCursor?: true;
}

/** A list request after the check against its ListContract by packages/http. */
export interface ListQuery {
  /** Requested fields, null = all. */
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
  /** The `_size` and `_offset` of the answer where they differ from those read: for a list with everything. */
  echo?: { size: number; offset: number };
  /** Whether the request has `_size` and `_offset`; absent for a list without a request. */
  asked?: { size: boolean; offset: boolean };
  /** Values of the contract's `extra` parameters in the request: _filter_id, _group_id, _get_data, ... */
  extra: Record<string, string[]>;
  /** For a request with `_after`: the cursor, empty for the first page, and whether the total is requested. */
  keyset?: { after: string; hasTotal: boolean };
}

/** Makes a list request with `some` parameters; default: the first thousand, all fields. */
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
  /** For a page requested with `_after`: the cursor of the next page; null: there is none. */
  next?: string | null;
}

/** Types a table of routes and refuses duplicate ids. */
export function defineRoutes<const T extends readonly RouteContract[]>(routes: T): T {
  const ids = new Set<string>();
  for (const route of routes) {
    if (ids.has(route.id)) throw new Error(`route ${route.id} is defined twice`);
    ids.add(route.id);
  }
  return routes;
}
