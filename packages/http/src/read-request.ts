import type { ApiVersion } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CompiledRoute } from './compile-route';
import type { RawQuery } from './list-query';
import type { HttpAppOptions } from './options';
import { anonymous, principalHeader, verifyPrincipal } from './principal-token';
import { hasBody, parseJson, readText } from './read-body';
import { RequestCall } from './request-call';
import { refuseUnstorable } from './unstorable-text';
import { JSON_TYPE, type TypeRule } from './wire-rules';

const JSON_LIMIT_BYTES = 10 * 1024 * 1024;
const TEXT_LIMIT_BYTES = 1024 * 1024;

/** Parses one request in the order: who, path, query, body. @throws AppError */
export async function readRequest(
  route: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  version: ApiVersion,
  o: HttpAppOptions,
): Promise<RequestCall> {
  const { contract } = route;
  const call = new RequestCall(request.raw, reply.raw, request.id, version, hasBody(request.raw), o.log);
  const header = request.headers[principalHeader] as string | undefined;
  if (contract.permission === 'none' && header === undefined) call.principal = anonymous;
  else call.principal = verifyPrincipal(header, { service: o.service, bundle: o.trust.bundle });
  const params = request.params as Record<string, string>;
  // The router matches `/things/` with an empty id; a trailing slash is no path of ours.
  for (const name in params) {
    if (params[name] === '' && name !== '*')
      throw new AppError('not_found_error', 'No such path: an id is empty');
  }
  const raw = request.query as RawQuery;
  refuseUnstorable(params);
  refuseUnstorable(raw);
  call.params = route.parseParams(params);
  if (route.parseList) call.list = route.parseList(raw);
  else call.include = route.parseInclude(raw);
  call.query = route.parseQuery(raw);
  if (contract.rawBody === 'text') call.text = await readText(request.raw, TEXT_LIMIT_BYTES);
  else if (contract.body && !isArchive(route, call))
    call.body = route.parseBody(await readJson(call, o, route.bodyType));
  return call;
}

/**
 * An `archive` route takes its body as a raw stream. Unmodified clients say `application/json` on chunked uploads,
 * so only a JSON body of declared length is read as JSON there, and only where the contract has a body schema too.
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
