import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiVersion } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { openApiDocument } from '@baton/http';
import { compileRoutes } from './route-table';

interface Operation {
  operationId: string;
  parameters: { name?: string; in?: string; $ref?: string }[];
  responses: Record<string, unknown>;
}
const document = openApiDocument(allRoutes, { title: 'Baton', version: '1' }) as {
  paths: Record<string, Record<string, Operation>>;
};
const table = compileRoutes(allRoutes);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

test('every operation of the description is routed to the route that it is named after', () => {
  const wrong = operations.filter(({ path, method, operation }) => {
    const [, version, rest] = /^\/api\/([^/]+)(\/.*)$/.exec(path)!;
    const match = table.match(version as ApiVersion, method, rest!.replace(/\{\w+\}/g, 'x1'));
    return match.kind !== 'route' || operation.operationId.split('_v2_1')[0] !== match.route.contract.id;
  });
  expect(wrong.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});

test('every route, in every version, is an operation with its path parameters and its answers', () => {
  const described = new Map(operations.map((one) => [one.operation.operationId, one.operation]));
  expect(described.size).toBe(operations.length);
  const wrong = allRoutes.flatMap((route) =>
    route.versions
      .map((version) => (version === 'v3.1' ? route.id : `${route.id}_v2_1`))
      .filter((id) => {
        const operation = described.get(id);
        const inPath = operation?.parameters.filter((one) => one.in === 'path').map((one) => one.name);
        const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
        const answers = Object.keys(operation?.responses ?? {});
        return (
          !names.every((name) => inPath?.includes(name)) ||
          !answers.includes(String(route.status)) ||
          !answers.includes('default')
        );
      }),
  );
  expect(wrong).toEqual([]);
});

/** Returns the names of the query parameters of an operation. */
const described = (id: string): string[] => {
  const found = operations.find(({ operation }) => operation.operationId === id);
  if (!found) throw new Error(`no operation ${id}`);
  return found.operation.parameters.flatMap((one) => (one.in === 'query' && one.name ? [one.name] : []));
};
const services = join(__dirname, '../..');
const sources = readdirSync(services).flatMap((service) =>
  readdirSync(join(services, service, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => ({ service, text: readFileSync(join(services, service, 'src', file), 'utf8') })),
);

test('parameters of lists that a service reads are those that its contracts name and the document describes', () => {
  const read = new Set(
    sources.flatMap(({ service, text }) =>
      [...text.matchAll(/\bextra\??\.(_\w+)/g)].map(([, name]) => `${service} ${name}`),
    ),
  );
  const named = allRoutes.flatMap((route) =>
    Object.keys(route.list?.extra ?? {}).map((name) => ({ route, name })),
  );
  expect(read.size).toBeGreaterThan(8);
  expect([...read].sort()).toEqual(
    [...new Set(named.map(({ route, name }) => `${route.owner} ${name}`))].sort(),
  );
  const missing = named.filter(({ route, name }) => !described(route.id).includes(name));
  expect(missing.map(({ route, name }) => `${route.id} ${name}`)).toEqual([]);
});

test('what every request of a kind may say is described', () => {
  expect(described('listExecutions')).toEqual(
    expect.arrayContaining(['_include', '_sort', '_include_system_workflows', '_group_id', '_all_tenants']),
  );
  expect(described('listDeployments')).toEqual(expect.arrayContaining(['_search_name', '_filter_id']));
  expect(described('listWorkflows')).toContain('_common_only');
  for (const id of ['getDeployment', 'getSecret', 'createSite', 'startExecution'])
    expect(described(id)).toContain('_include');
  expect(described('summarizeDeployments')).not.toContain('_include');
  const doubled = operations.filter(({ operation: { operationId: id } }) => {
    const names = described(id);
    return new Set(names).size !== names.length;
  });
  expect(doubled.map(({ operation }) => operation.operationId)).toEqual([]);
});
