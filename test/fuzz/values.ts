/** Random requests of a route: mostly valid by its contract, with the names of a small world; sometimes nonsense. */
import type { RouteContract } from '@baton/contracts';
import { z } from 'zod';
import type { Random } from '../sim/random';

/** The part of a JSON schema that values are generated from. */
interface Schema {
  anyOf?: Schema[];
  allOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  type?: string;
  pattern?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
}

export interface Request {
  method: string;
  version: string;
  path: string;
  body?: unknown;
}

const NONSENSE: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e300, 2_147_483_648, 2 ** 53, 2 ** 63, -(2 ** 31) - 1],
  ...[[], {}, [null], [[]], [{}], { a: null }, { '\u0000': 1 }, { constructor: 1 }],
  ...['', ' ', '\n', '-', '.', '..', '*', '%', '\\', '$1', '{{', "'; drop table x; --", '../../etc/passwd'],
  ...['\u0000', 'a\u0000b', '\ud800', 'é😀', 'x'.repeat(300), 'y'.repeat(70_000)],
  ...['NaN', 'Infinity', '1e999', '-1', '99999999999999999999', 'null', 'true', '[]', '{}', 'None'],
  ...['0000-00-00', '0001-01-01T00:00:00Z', '2020-02-30', '9999-12-31T23:59:59.999Z', '294277-01-01'],
  ...['infinity', '2026-01-01T00:00:00+99:99', '00:00', '__proto__', 'toString'],
];
const ENCODED_NONSENSE = [
  ...[
    '',
    '%00',
    '%ff',
    '%ed%a0%80',
    'a%00b',
    '%F0%9F%98%80',
    '%25',
    '%5C',
    '%27',
    '%5B%5D',
    '%20',
    '+',
    '*',
    '..',
  ],
  ...[
    '-1',
    '0',
    '00',
    '1e9',
    '2147483648',
    '99999999999999999999',
    'NaN',
    'null',
    ',',
    ',,',
    '-,',
    'infinity',
  ],
  ...['2020-02-30', '294277-01-01', '__proto__', 'constructor', 'x'.repeat(3_000)],
];

/** Likely meaningful values, by field name. */
const LIKELY: readonly [RegExp, readonly unknown[]][] = [
  [/blueprint/, ['b1', 'slow', 'rich']],
  [
    /workflow/,
    [
      'install',
      'uninstall',
      'execute_operation',
      'heal',
      'scale',
      'update',
      'check_status',
      'restart',
      'stop',
      'start',
      'rollback',
      'pull',
      'reinstall',
      'check_drift',
    ],
  ],
  [/creator|created_by/, ['admin', 'viewer1']],
  // Never the administrator, who sends the requests.
  [/user/, ['viewer1', 'user1', 'user2']],
  [/role/, ['default', 'manager', 'user', 'viewer']],
  [/password/, ['a-password-1']],
  [/update/, ['$update', '$last_deployment_updates']],
  [/execution_?group/, ['$last_execution_groups']],
  [/schedule/, ['sched1', 'sched2']],
  [/^display_name$|_name$|description/, ['d1', 'rich']],
  [/deployment|consumer|source|target$/, ['d1', 'd2', 'rich1', 'rich2', 'running1']],
  [/group/, ['g1', 'g2', 'pair']],
  [/tenant/, ['default_tenant', 'tenant1', 'tenant2']],
  [/node_instance|instance_id/, ['$instance', '$instance2']],
  [/node/, ['n1', 'host', 'app']],
  [/execution/, ['$execution', '$running1', '$last_executions', '$last_executions']],
  [/operation/, ['cloudify.interfaces.lifecycle.create', 'cloudify.interfaces.lifecycle.start']],
  [/visibility/, ['private', 'tenant', 'global']],
  [/recurrence/, ['1 day', '1 minute', '1 month', '99999999 years']],
  [/rrule/, ['FREQ=DAILY', 'FREQ=SECONDLY;COUNT=1', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30']],
  [
    /^since$|^until$|_at$|time|date/,
    ['2040-01-01 00:00:00', '2020-01-01T00:00:00.000Z', '2030-01-01', '+1h'],
  ],
  [/action/, ['cancel', 'force-cancel', 'kill', 'resume', 'force-resume', 'requeue']],
  [/status|state/, ['started', 'terminated', 'failed', 'cancelled', 'pending']],
  [/plugin/, ['$plugin']],
  [/snapshot/, ['snapshot']],
  [/site/, ['site1']],
  [/filter/, ['f1', 'f2']],
  [/secret|^key$/, ['s1', 's2', 'a']],
];
const ANYTHING = [
  'a',
  'b',
  'd1',
  'b1',
  'n1',
  's1',
  'site1',
  'f1',
  'new1',
  'new2',
  '$execution',
  '$instance',
  '$graph',
];
const KEYS = [
  'a',
  'n1',
  'host',
  'pair',
  'default',
  'x',
  'csys-obj-type',
  'scale_compute',
  'delta',
  'scalable_entity_name',
];
const NUMBERS = [0, 1, 1, 2, 3, 10, 100, 1000];
const DEEPEST = 5;

const likely = (random: Random, name: string): unknown => {
  const [, values] = LIKELY.find(([pattern]) => pattern.test(name)) ?? [];
  return random.pick(values && random.chance(0.93) ? values : ANYTHING);
};

function madeOf(random: Random, schema: Schema, name: string, nonsense: number, depth = 0): unknown {
  if (random.chance(nonsense)) return random.pick(NONSENSE);
  const alternatives = schema.anyOf ?? schema.allOf;
  if (alternatives) return madeOf(random, random.pick(alternatives), name, nonsense, depth);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  switch (schema.type) {
    case 'null':
      return null;
    case 'boolean':
      return random.chance(0.5);
    case 'integer':
    case 'number':
      return random.pick(NUMBERS);
    case 'string':
      return schema.pattern?.includes('true|false') ? random.pick(['true', 'false']) : likely(random, name);
    case 'array':
      return Array.from({ length: random.below(3) }, () =>
        madeOf(random, schema.items ?? {}, name, nonsense, depth + 1),
      );
    case 'object':
      return objectOf(random, schema, nonsense, depth);
    default:
      return anything(random, name, depth);
  }
}

function objectOf(random: Random, schema: Schema, nonsense: number, depth: number): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  const optional = random.pick([0.05, 0.2, 0.4]);
  for (const [key, property] of Object.entries(schema.properties ?? {}))
    if (random.chance(schema.required?.includes(key) ? 0.98 : optional))
      object[key] = madeOf(random, property, key, nonsense, depth + 1);
  if (schema.properties && random.chance(0.9)) return object;
  const { additionalProperties } = schema;
  const more = typeof additionalProperties === 'object' ? additionalProperties : {};
  for (let n = random.below(3); n > 0; n--) {
    const key = random.pick(KEYS);
    object[key] = madeOf(random, more, key, nonsense, depth + 1);
  }
  return object;
}

const anything = (random: Random, name: string, depth: number): unknown =>
  depth > DEEPEST
    ? 'x'
    : random.pick([
        ...[likely(random, name), 1, true, null, { a: 1 }, ['a'], { get_attribute: ['n1', 'x'] }],
        ...[{ get_secret: 's1' }, { concat: ['a', { get_input: 'x' }] }, { get_capability: ['d1', 'c'] }],
      ]);

/** Encodes a value for an address. Lone surrogates cannot be encoded and are replaced. */
const encoded = (value: unknown): string =>
  encodeURIComponent(String(value).replaceAll(/[\ud800-\udfff]/g, '_'));

function queryOf(random: Random, { list, query }: RouteContract): string {
  const parts: string[] = [];
  const add = (chance: number, name: string, values: readonly unknown[]): void => {
    if (!random.chance(chance)) return;
    const isSense = values.length > 0 && random.chance(0.75);
    parts.push(`${name}=${isSense ? encoded(random.pick(values)) : random.pick(ENCODED_NONSENSE)}`);
  };
  if (list) {
    const { fields, sorts, filters } = list;
    add(0.3, '_size', [1, 10, 0, 1000]);
    add(0.3, '_offset', [0, 1, 100, 1_000_000]);
    add(0.4, '_sort', [...sorts, ...sorts.map((sort) => `-${sort}`)]);
    add(0.3, '_include', [...fields, fields.slice(0, 3).join(',')]);
    for (const name of ['_search', '_search_name']) add(0.1, name, ['d', '%', '_', '\\']);
    for (const name of ['_all_tenants', '_get_all_results']) add(0.1, name, ['true', 'false']);
    add(0.1, '_filter_id', ['f1', 'nosuch']);
    add(0.1, '_range', ['timestamp,2020-01-01,', 'timestamp,,2040-01-01', 'created_at,,', 'x,y,z']);
    for (const name of filters) add(0.08, name, [likely(random, name)]);
    for (const name of Object.keys(list.extra ?? {})) add(0.2, name, ['true', 'false', likely(random, name)]);
  }
  if (query) {
    const { properties = {}, required = [] } = schemaOf(query);
    for (const [name, property] of Object.entries(properties)) {
      const value = madeOf(random, property, name, 0.05);
      add(required.includes(name) ? 0.95 : 0.3, name, [
        typeof value === 'string' ? value : JSON.stringify(value),
      ]);
    }
  }
  return parts.length > 0 ? `?${parts.join('&')}` : '';
}

const schemas = new Map<z.ZodType, Schema>();
function schemaOf(type: z.ZodType): Schema {
  let schema = schemas.get(type);
  if (!schema) {
    schema = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Schema;
    schemas.set(type, schema);
  }
  return schema;
}

/**
 * Returns a random request. `$name` in paths and bodies stands for a value of the world; `$last_executions` for the id in the
 * last answer.
 */
export function requestOf(random: Random, route: RouteContract): Request {
  const [, resource = ''] = route.path.split('/');
  const path = route.path
    .replaceAll(/:(\w+)/g, (_, name: string) => {
      if (random.chance(0.08))
        return random.pick(ENCODED_NONSENSE.filter((text) => text !== '' && text !== '..'));
      const value = String(likely(random, /^(id|name)$/.test(name) ? resource : name));
      return value.startsWith('$') ? value : encoded(value);
    })
    .replace('/*', '/a/b.txt');
  const nonsense = random.pick([0, 0, 0, 0, 0.03, 0.2]);
  const hasBody = route.body !== undefined && !random.chance(0.03);
  return {
    method: route.method,
    version: random.pick(route.versions),
    path: `${path}${queryOf(random, route)}`,
    ...(hasBody && { body: madeOf(random, schemaOf(route.body!), '', nonsense) }),
  };
}

/** Returns a value that matches the schema, except for a share of `nonsense` (0 to 1) of its places. */
export const payloadOf = (random: Random, type: z.ZodType, nonsense: number): unknown =>
  madeOf(random, schemaOf(type), '', nonsense);

/** Returns a likely meaningful text for this field name; `$name` stands for a value of the world. */
export const textFor = (random: Random, name: string): string => String(likely(random, name));

/** Returns a text that is meaningless everywhere. */
export const nonsenseText = (random: Random): string =>
  String(random.pick(NONSENSE.filter((one) => typeof one === 'string')));
