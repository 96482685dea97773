/** Everything about a route that can be decided once: which parts are parsed, and by which parser. */
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
  /** @throws Error when the response breaks the contract (tests and development only). */
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
      catchall?: ZodNode;
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
  // A handler cannot read a parameter that no contract names.
  if (!schema) return () => ({});
  const shape = (schema as unknown as ZodNode)._zod.def.shape;
  if (!shape) return (raw) => checkValue(schema, raw, 'query parameter');
  const fields = Object.entries(shape).map(([name, node]) => ({ name, isList: isList(node) }));
  // A strict object refuses unknown names and suggests the nearest known one.
  const isStrict = (schema as unknown as ZodNode)._zod.def.catchall?._zod.def.type === 'never';
  return ({ _include, ...raw }) => {
    const picked: Record<string, unknown> = isStrict ? { ...raw } : {};
    for (const field of fields) {
      const value = raw[field.name];
      // Of a single-valued parameter that is repeated, the first value counts, as in lists.
      if (value !== undefined) picked[field.name] = field.isList ? valuesOf(value) : firstOf(value);
    }
    return checkValue(schema, picked, 'query parameter');
  };
}

/**
 * Returns the parser of a body. Where a key may be absent and does not accept null, null counts as absent (Python clients send null
 * for values that were not given).
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

/** Returns the names that `_include` of a route without a list may contain; null: `_include` is not checked. */
export function includeNames(contract: RouteContract): ReadonlySet<string> | null {
  if (contract.list) return null;
  if (contract.includeFields) return new Set(contract.includeFields);
  const keys = keysOf(contract.response);
  return keys.length > 0 ? new Set(keys) : null;
}

/** Default page size of v2.1 (spec v2.1 "Limits"); later managers of the original used the one of v3.1. */
const LEGACY_SIZE = 10_000;

function versionOfList(
  list: ListContract,
  fields: readonly string[] | undefined,
  hasLegacyForm: boolean,
): ListContract {
  if (!hasLegacyForm) return list;
  return { ...list, fields: fields ?? list.fields, defaultSize: list.defaultSize ?? LEGACY_SIZE };
}

/** Compiles the parsers of one bound route, for one version of the API on the installation's wire. */
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
      // An optional body may be null as well; where a body is required, null is refused.
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
