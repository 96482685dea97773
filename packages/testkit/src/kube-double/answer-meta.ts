import type { Call } from './answer-resource';
import { ApiError } from './api-error';
import {
  aggregated,
  coreVersions,
  groupList,
  groupOf,
  openapiDocument,
  openapiRoot,
  resourceList,
} from './discovery';
import { type Dict, dictOf } from './object';
import type { Store } from './store';
import { parseBody } from './write-object';

/** Answers what is about the server itself: its version, its resources, reviews; null: something else is asked. */
export function answerMeta(store: Store, call: Call): { code: number; body: unknown } | null {
  const path = call.url.pathname.replace(/\/$/, '');
  const types = store.resources.all();
  const ok = (body: unknown) => ({ code: 200, body });
  if (['/healthz', '/livez', '/readyz'].includes(path)) return ok('ok');
  if (path === '/version')
    return ok({ major: '1', minor: '32', gitVersion: 'v1.32.0+double', platform: 'linux/amd64' });
  const isAggregated = call.accept.includes('as=APIGroupDiscoveryList') && call.accept.includes('v=v2');
  if (path === '/api') return ok(isAggregated ? aggregated(types, true) : coreVersions());
  if (path === '/apis') return ok(isAggregated ? aggregated(types, false) : groupList(types));
  if (path === '/openapi/v3') return ok(openapiRoot(types));
  // An empty document in the form of protobuf: clients fall back to their own types.
  if (path === '/openapi/v2') return ok(Buffer.from([0x0a, 0x03, 0x32, 0x2e, 0x30]));
  if (path.startsWith('/openapi/v3/'))
    return found(openapiDocument(types, path.slice('/openapi/v3/'.length)));
  const parts = path.split('/').slice(1);
  if (parts[0] === 'api' && parts.length === 2) return found(resourceList(types, '', parts[1]!));
  if (parts[0] !== 'apis') return null;
  if (parts.length === 2)
    return found(types.some(({ group }) => group === parts[1]) ? groupOf(types, parts[1]!) : null);
  if (parts.length === 3) return found(resourceList(types, parts[1]!, parts[2]!));
  return review(parts, call);
}

function found(body: Dict | null): { code: number; body: unknown } {
  if (body === null) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource');
  return { code: 200, body };
}

/** Everybody may do everything here. */
function review([, , , resource]: string[], call: Call): { code: number; body: unknown } | null {
  if (call.method !== 'POST' || !/^selfsubject.*reviews$/.test(resource ?? '')) return null;
  const status = { allowed: true, userInfo: { username: 'double', groups: ['system:masters'] } };
  return { code: 201, body: { ...dictOf(parseBody(call)), status } };
}
