import { camel, kebabOf, placeOf } from './names.mjs';

const handler = (method, alias) => `import type { ${alias} } from '@baton/contracts';
import type { ServedCall } from '@baton/rpc';

/** Decodes, calls one command or query, encodes. */
export async function ${camel(kebabOf(method))}(
  _request: ${alias}.${method}Request,
  _call: ServedCall,
): Promise<${alias}.${method}Response> {
  return {};
}
`;

/** Returns a method in the service's proto and its handler; `place`: a service, or a room of one (`executions/engine`). */
export function newRpc(tree, place, method) {
  const { service, folder: into } = placeOf(place);
  if (!/^[A-Z][A-Za-z0-9]+$/.test(method ?? '')) return { error: 'the method must be PascalCase' };
  const folder = service.replaceAll('-', '_');
  const path = `proto/${folder}/v1/${folder}.proto`;
  const proto = tree.read(path);
  if (proto === null) return { error: `${path} is missing` };
  if (proto.includes(`rpc ${method}(`)) return { error: `${method} exists in ${path}` };
  const end = proto.indexOf('\n}', proto.indexOf('\nservice '));
  const call = `\n  // Says in one sentence what the caller may rely on.\n  rpc ${method}(${method}Request) returns (${method}Response);`;
  const messages = `\nmessage ${method}Request {}\n\nmessage ${method}Response {}\n`;
  const alias = `${camel(service)}Rpc`;
  return {
    files: [
      { path, text: `${proto.slice(0, end)}${call}${proto.slice(end)}${messages}` },
      {
        path: `${into}/rpc/${kebabOf(method)}.rpc.ts`,
        text: handler(method, alias),
      },
    ],
    steps: [
      'write the fields, then `npm run gen`',
      `add ${camel(kebabOf(method))} to the handlers of ${alias} in ${into}/rpc`,
      'callers: an adapter (services/<caller>/src/adapters/*.client.ts); not inside a transaction, not deeper than two calls',
    ],
  };
}
