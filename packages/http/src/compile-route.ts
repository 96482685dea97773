/** Everything about a route that can be decided once: which parts are parsed, by what. */
import type { ApiVersion, ListContract, ListQuery, RouteContract } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { z } from 'zod';
import type { BoundRoute, Handler } from './call';
import { checkValue, keysOf } from './check-value';
import { compileList, firstOf, parseInclude, type RawQuery, valuesOf } from './list-query';
import { rulesOf } from './rules-of';
import type { Wire } from './wire';
import type { TypeRule } from './wire-rules';

export interface CompiledRoute {
  contract: RouteContract;
  handler: Handler;
  parseParams(raw: Record<string, string>): Record<string, string>;
  parseQuery(raw: RawQuery): unknown;
  parseList: ((raw: RawQuery) => ListQuery) | null;
  parseInclude(raw: RawQuery): string[] | null;
  bodyType: TypeRule;
  /** @throws AppError bad_parameters_error */
  parseBody(value: unknown): unknown;
  /** @throws Error when the answer breaks the contract (tests and development only). */
  checkResponse(body: unknown): void;
}

interface ZodNode {
  _zod: {
    def: {
      type: string;
      innerType?: ZodNode;
      in?: ZodNode;
      element?: ZodNode;
      shape?: Record<string, ZodNode>;
    };
  };
}

/** Whether a query field is declared as a list, so that one value has to be wrapped. */
function isList(node: ZodNode | undefined): boolean {
  if (!node) return false;
  const def = node._zod.def;
  return def.type === 'array' || isList(def.innerType) || (def.type === 'pipe' && isList(def.in));
}

function compileQuery(schema: z.ZodType | undefined): (raw: RawQuery) => unknown {
  // What no contract names, no handler can read.
  if (!schema) return () => ({});
  const shape = (schema as unknown as ZodNode)._zod.def.shape;
  if (!shape) return (raw) => checkValue(schema, raw, 'query parameter');
  const fields = Object.entries(shape).map(([name, node]) => ({ name, isList: isList(node) }));
  return (raw) => {
    const picked: Record<string, unknown> = {};
    for (const field of fields) {
      const value = raw[field.name];
      // Of a parameter that has one value, the first counts, as in lists.
      if (value !== undefined) picked[field.name] = field.isList ? valuesOf(value) : firstOf(value);
    }
    return checkValue(schema, picked, 'query parameter');
  };
}

/**
 * The parser of a body: where a key may be absent and knows no null, null is the same (Python clients send what was not
 * given as null).
 */
function compileBody(contract: RouteContract): (value: unknown) => unknown {
  const { body } = contract;
  if (!body) return () => undefined;
  const shape = (body as { shape?: Record<string, z.ZodType> }).shape ?? {};
  const unset = contract.isNullRefused
    ? []
    : Object.keys(shape).filter(
        (key) => shape[key]!.safeParse(undefined).success && !shape[key]!.safeParse(null).success,
      );
  return (value) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject || !unset.some((key) => (value as Record<string, unknown>)[key] === null))
      return checkValue(body, value, 'body');
    const given = Object.entries(value).filter(([key, v]) => v !== null || !unset.includes(key));
    return checkValue(body, Object.fromEntries(given), 'body');
  };
}

/** What `_include` of a route that is no list may name; null: it is not read. */
export function includeNames(contract: RouteContract): ReadonlySet<string> | null {
  if (contract.list) return null;
  if (contract.includeFields) return new Set(contract.includeFields);
  const keys = keysOf(contract.response);
  return keys.length > 0 ? new Set(keys) : null;
}

/** Page size of v2.1 where none is asked for (spec v2.1 "Limits"); the original's later managers had that of v3.1. */
const LEGACY_SIZE = 10_000;

function versionOfList(
  list: ListContract,
  fields: readonly string[] | undefined,
  hasLegacyForm: boolean,
): ListContract {
  if (!hasLegacyForm) return list;
  return { ...list, fields: fields ?? list.fields, defaultSize: list.defaultSize ?? LEGACY_SIZE };
}

/** Compiles the parsers of one bound route, as one version of the API has it on the installation's wire. */
export function compileRoute(
  { contract, handler }: BoundRoute,
  version: ApiVersion,
  wire: Wire,
): CompiledRoute {
  const { params, response } = contract;
  const rules = rulesOf(wire);
  const hasLegacyForm = rules.hasLegacyForm(version);
  const legacy = hasLegacyForm ? contract.legacyFields : undefined;
  const names = legacy && !contract.list ? new Set(legacy) : includeNames(contract);
  const list = contract.list && versionOfList(contract.list, legacy, hasLegacyForm);
  const parseBody = compileBody(contract);
  return {
    contract,
    handler,
    parseParams: params
      ? (raw) => checkValue(params, raw, 'path parameter') as Record<string, string>
      : (raw) => raw,
    parseQuery: compileQuery(contract.query),
    parseList: list ? compileList(list, keysOf(contract.query), wire) : null,
    bodyType: rules.bodyType(contract),
    parseInclude: names ? (raw) => parseInclude(raw._include, names) : () => null,
    parseBody: (value) => {
      if (value === undefined && !contract.isBodyOptional) {
        throw new AppError('bad_parameters_error', 'The request needs a JSON body', {
          field: '',
          expected: 'JSON body',
        });
      }
      // A body that need not be there may be null as well; where one is due, null is none of its fields.
      const given = value === undefined || (value === null && contract.isBodyOptional) ? {} : value;
      return parseBody(given);
    },
    checkResponse: (value) => {
      const result = response?.safeParse(value);
      if (result && !result.success)
        throw new Error(`answer of ${contract.id} breaks its contract: ${result.error.message}`);
    },
  };
}
