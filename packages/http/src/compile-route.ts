/** Everything about a route that can be decided once: which parts are parsed, by what. */
import type { ListQuery, RouteContract } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { z } from 'zod';
import type { BoundRoute, Handler } from './call';
import { checkValue, keysOf } from './check-value';
import { compileList, parseInclude, type RawQuery, valuesOf } from './list-query';

export interface CompiledRoute {
  contract: RouteContract;
  handler: Handler;
  parseParams(raw: Record<string, string>): Record<string, string>;
  parseQuery(raw: RawQuery): unknown;
  parseList: ((raw: RawQuery) => ListQuery) | null;
  parseInclude(raw: RawQuery): string[] | null;
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
      if (value !== undefined) picked[field.name] = field.isList ? valuesOf(value) : value;
    }
    return checkValue(schema, picked, 'query parameter');
  };
}

/** What `_include` of a route that is no list may name; null: it is not read. */
export function includeNames(contract: RouteContract): ReadonlySet<string> | null {
  if (contract.list) return null;
  if (contract.includeFields) return new Set(contract.includeFields);
  const keys = keysOf(contract.response);
  return keys.length > 0 ? new Set(keys) : null;
}

/** Compiles the parsers of one bound route. */
export function compileRoute({ contract, handler }: BoundRoute): CompiledRoute {
  const { params, body, response } = contract;
  const names = includeNames(contract);
  return {
    contract,
    handler,
    parseParams: params
      ? (raw) => checkValue(params, raw, 'path parameter') as Record<string, string>
      : (raw) => raw,
    parseQuery: compileQuery(contract.query),
    parseList: contract.list ? compileList(contract.list, keysOf(contract.query)) : null,
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
      return body ? checkValue(body, given, 'body') : undefined;
    },
    checkResponse: (value) => {
      const result = response?.safeParse(value);
      if (result && !result.success)
        throw new Error(`answer of ${contract.id} breaks its contract: ${result.error.message}`);
    },
  };
}
