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
