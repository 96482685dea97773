/** Operations named by their ids in the OpenAPI document, instead of by their contracts. */
import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import type { Operations } from './operations.gen';
import type { CommonArgs, QueryValue } from './request-parts';

export type OperationId = keyof Operations;
export type AnswerOf<Id extends OperationId> = Operations[Id]['answer'];
/** The operation's own query parameters, and the parameters that all operations share (`_include`, ...). */
export type QueryOf<Id extends OperationId> = { [Name in Operations[Id]['query']]?: QueryValue } & {
  [convention: `_${string}`]: QueryValue;
};
export type ItemOf<Id extends OperationId> = AnswerOf<Id> extends { items: (infer T)[] } ? T : unknown;

/** Arguments of a call: `params` where the path has some, `body` where the operation takes one. */
export type OperationArgs<Id extends OperationId> = Omit<CommonArgs, 'query'> & {
  query?: QueryOf<Id>;
} & (Operations[Id]['params'] extends undefined
    ? { params?: undefined }
    : { params: Operations[Id]['params'] }) &
  (undefined extends Operations[Id]['body']
    ? { body?: Operations[Id]['body'] }
    : { body: Operations[Id]['body'] });

const byId = new Map<string, RouteContract>(allRoutes.map((route) => [route.id, route]));

/** Returns the contract of an operation. @throws TypeError for an unknown id. */
export function contractOf(operation: RouteContract | string): RouteContract {
  if (typeof operation !== 'string') return operation;
  const found = byId.get(operation);
  if (!found) throw new TypeError(`no operation ${operation}`);
  return found;
}
