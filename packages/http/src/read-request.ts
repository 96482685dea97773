import type { ApiVersion } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Response } from 'express';
import type { CompiledRoute } from './compile-route';
import type { ServedRequest } from './express-app';
import type { RawQuery } from './list-query';
import type { HttpAppOptions } from './options';
import { anonymous, principalHeader, verifyPrincipal } from './principal-token';
import { hasBody, parseJson, readText } from './read-body';
import { badPath } from './refuse-path';
import { RequestCall } from './request-call';
import { refuseUnstorable } from './unstorable-text';
import { JSON_TYPE, type TypeRule } from './wire-rules';

const JSON_LIMIT_BYTES = 10 * 1024 * 1024;
const TEXT_LIMIT_BYTES = 1024 * 1024;

/** Most characters of one parameter of a path; the rest of a path (`*`) may be longer. */
const MAX_PARAM_LENGTH = 8192;

/** Parses one request in this order: principal, path, query, body. @throws AppError */
export async function readRequest(
  route: CompiledRoute,
  request: ServedRequest,
  response: Response,
  version: ApiVersion,
  o: HttpAppOptions,
): Promise<RequestCall> {
  const { contract } = route;
  const call = new RequestCall(request, response, request.id, version, hasBody(request), o.log);
  const header = request.headers[principalHeader] as string | undefined;
  if (contract.permission === 'none' && header === undefined) call.principal = anonymous;
  else call.principal = verifyPrincipal(header, { service: o.service, bundle: o.trust.bundle });
  const params = paramsOf(request, contract.path);
  const raw = request.query as RawQuery;
  refuseUnstorable(params);
  refuseUnstorable(raw);
  call.params = route.parseParams(params);
  if (route.parseList) call.list = route.parseList(raw);
  else call.include = route.parseInclude(raw);
  call.query = route.parseQuery(raw);
  if (contract.rawBody === 'text') call.text = await readText(request, TEXT_LIMIT_BYTES);
  else if (contract.body && !isArchive(route, call))
    call.body = route.parseBody(await readJson(call, o, route.bodyType));
  return call;
}

/** Returns the decoded parameters by name; the rest of a path (`*`) as one text. @throws AppError bad_parameters_error */
function paramsOf({ params, url }: ServedRequest, path: string): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name in params) {
    const value = params[name]!;
    if (typeof value !== 'string') all[name] = value.join('/');
    else if (value.length <= MAX_PARAM_LENGTH) all[name] = value;
    else throw badPath(url);
  }
  // Express leaves out an empty rest: `/files/` of `/files/*`.
  if (path.endsWith('/*')) all['*'] ??= '';
  return all;
}

/**
 * Whether the body of an `archive` route is taken as a raw stream. Unmodified clients send `application/json` with chunked uploads.
 * So such a route reads JSON only from a body of declared length, and only where the contract has a body schema too.
 */
function isArchive(route: CompiledRoute, call: RequestCall): boolean {
  if (route.contract.rawBody !== 'archive') return false;
  return !(
    call.hasBody &&
    JSON_TYPE.test(call.contentType) &&
    call.headers['transfer-encoding'] === undefined
  );
}

async function readJson(call: RequestCall, o: HttpAppOptions, rule: TypeRule): Promise<unknown> {
  const isJson = rule.type.test(call.contentType);
  if (rule.isNeeded && !isJson) throw wrongType(call.contentType, rule);
  if (!call.hasBody) return undefined;
  const text = await readText(call.raw, o.jsonLimitBytes ?? JSON_LIMIT_BYTES);
  if (text.trim() === '') return undefined;
  if (!isJson) throw wrongType(call.contentType, rule);
  return parseJson(text);
}

function wrongType(contentType: string, { refusal }: TypeRule): AppError {
  return new AppError(refusal, `Content type must be application/json, not \`${contentType}\``, {
    field: 'Content-Type',
    expected: 'application/json',
  });
}
