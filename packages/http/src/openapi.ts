/** Generates OpenAPI 3.1 from route contracts; schemas with a `.meta({ id })` become components. */
import { type RouteContract, sessionCookieName } from '@baton/contracts';
import { z } from 'zod';
import { includeNames } from './compile-route';

type Json = Record<string, unknown>;

/** Returns the JSON Schema 2020-12 of a zod schema; `components` collects the schemas that have an id. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const whole = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as Json;
  const { $schema, $defs, ...rest } = whole;
  void $schema;
  for (const [id, inner] of Object.entries(($defs as Json | undefined) ?? {}))
    components[id] = withoutId(inner as Json);
  return rewriteRefs(withoutId(rest)) as Json;
}

function withoutId(schema: Json): Json {
  const { id, $id, ...rest } = schema;
  void id;
  void $id;
  return rest;
}

function rewriteRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewriteRefs);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, inner.replace('#/$defs/', '#/components/schemas/')]
        : [key, rewriteRefs(inner)],
    ),
  );
}

function fieldsOf(
  schema: z.ZodType | undefined,
  components: Json,
): { name: string; schema: unknown; isRequired: boolean }[] {
  if (!schema) return [];
  const json = schemaOf(schema, 'input', components);
  const required = new Set((json.required as string[] | undefined) ?? []);
  return Object.entries((json.properties as Json | undefined) ?? {}).map(([name, inner]) => ({
    name,
    schema: inner,
    isRequired: required.has(name),
  }));
}

const text = { type: 'string' };
const number = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };

const includeParameter = (fields: readonly string[]): Json => ({
  name: '_include',
  in: 'query',
  style: 'form',
  explode: false,
  schema: { type: 'array', items: { type: 'string', enum: fields } },
});

/** Parameter `_include` of routes without a list: answers are reduced to the named fields. */
function includeOf(route: RouteContract): Json[] {
  const names = (route.responseKind ?? 'json') === 'json' ? includeNames(route) : null;
  return names ? [includeParameter([...names])] : [];
}

function listParameters(route: RouteContract): Json[] {
  const { list } = route;
  if (!list) return [];
  const known = new Set(Object.keys((route.query as { shape?: object } | undefined)?.shape ?? {}));
  const many = (name: string, items: Json): Json => ({
    name,
    in: 'query',
    style: 'form',
    explode: true,
    schema: { type: 'array', items },
  });
  const one = (name: string, schema: Json): Json => ({ name, in: 'query', schema });
  return [
    ...(list.fields.length === 0 ? [] : [includeParameter(list.fields)]),
    ...(list.sorts.length === 0 ? [] : [many('_sort', text)]),
    one('_size', { ...number, default: list.defaultSize ?? 1000 }),
    one('_offset', number),
    ...(list.hasCursor ? [one('_after', text), one('_total', flag)] : []),
    ...(list.search === undefined ? [] : [one('_search', text)]),
    ...(list.searchName === undefined ? [] : [one('_search_name', text)]),
    ...(list.allowsAllTenants ? [one('_all_tenants', flag)] : []),
    ...(list.allowsGetAll ? [one('_get_all_results', flag)] : []),
    ...Object.entries(list.extra ?? {}).map(([name, kind]) =>
      kind === 'texts' ? many(name, text) : one(name, kind === 'flag' ? flag : text),
    ),
    ...list.filters.filter((name) => !known.has(name)).map((name) => many(name, text)),
  ];
}

function pathOf(route: RouteContract): { path: string; names: string[] } {
  const names: string[] = [];
  const path = route.path
    .split('/')
    .map((part) => {
      const name = part === '*' ? 'rest' : part.startsWith(':') ? part.slice(1) : null;
      if (name === null) return part;
      names.push(name);
      return `{${name}}`;
    })
    .join('/');
  return { path, names };
}

function parametersOf(route: RouteContract, names: string[], components: Json): Json[] {
  const declared = new Map(fieldsOf(route.params, components).map((f) => [f.name, f.schema]));
  return [
    ...(route.tenant === 'none' ? [] : [{ $ref: '#/components/parameters/Tenant' }]),
    ...names.map((name) => ({ name, in: 'path', required: true, schema: declared.get(name) ?? text })),
    ...fieldsOf(route.query, components).map((f) => ({
      name: f.name,
      in: 'query',
      required: f.isRequired,
      schema: f.schema,
    })),
    ...includeOf(route),
    ...listParameters(route),
  ];
}

function requestBodyOf(route: RouteContract, components: Json): Json {
  const content: Json = {};
  if (route.body) content['application/json'] = { schema: schemaOf(route.body, 'input', components) };
  if (route.rawBody === 'archive')
    content['application/octet-stream'] = { schema: { type: 'string', format: 'binary' } };
  if (route.rawBody === 'text') content['text/plain'] = { schema: text };
  if (Object.keys(content).length === 0) return {};
  return {
    requestBody: { required: route.body !== undefined && !route.isBodyOptional && !route.rawBody, content },
  };
}

const successTypes = {
  stream: 'application/octet-stream',
  events: 'text/event-stream',
  text: 'text/plain',
  json: 'application/json',
};

function responsesOf(route: RouteContract, components: Json): Json {
  const kind = route.responseKind ?? 'json';
  const schema =
    kind === 'json' && route.response
      ? schemaOf(route.response, 'output', components)
      : kind === 'json'
        ? {}
        : text;
  const content =
    route.status === 204 || route.status === 303 ? {} : { content: { [successTypes[kind]]: { schema } } };
  return {
    [route.status]: { description: 'Success', ...content },
    default: {
      description: 'Error',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  };
}

function operationOf(route: RouteContract, names: string[], version: string, components: Json): Json {
  return {
    operationId: version === 'v3.1' ? route.id : `${route.id}_${version.replace('.', '_')}`,
    summary: route.summary,
    description: `Owner: ${route.owner}. Permission: ${route.permission}. Spec: ${route.spec}.`,
    tags: [route.path.split('/')[1] || 'root'],
    ...(route.permission === 'none' ? { security: [] } : {}),
    parameters: parametersOf(route, names, components),
    ...requestBodyOf(route, components),
    responses: responsesOf(route, components),
  };
}

const errorSchema = {
  type: 'object',
  required: ['message', 'error_code'],
  properties: { message: text, error_code: text, server_traceback: { type: ['string', 'null'] } },
};

/** Returns the OpenAPI 3.1 document of `routes`, with every version under which they are served. */
export function openApiDocument(
  routes: readonly RouteContract[],
  info: { title: string; version: string; description?: string },
): Json {
  const paths: Record<string, Json> = {};
  const components: Json = {};
  for (const route of routes) {
    const { path, names } = pathOf(route);
    for (const version of route.versions) {
      const key = `/api/${version}${path}`;
      paths[key] = {
        ...paths[key],
        [route.method.toLowerCase()]: operationOf(route, names, version, components),
      };
    }
  }
  const schemas = rewriteRefs({ ...components, Error: errorSchema }) as Json;
  const sorted = Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    openapi: '3.1.0',
    info,
    security: [{ basic: [] }, { token: [] }, { session: [] }],
    paths: sorted,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      parameters: {
        Tenant: {
          name: 'Tenant',
          in: 'header',
          required: false,
          schema: text,
          description: 'Tenant of the request',
        },
      },
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        token: { type: 'apiKey', in: 'header', name: 'Authentication-Token' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookieName(true),
          description: `Of POST /session; ${sessionCookieName(false)} without TLS. Changes need the header x-baton-request: 1`,
        },
      },
    },
  };
}
