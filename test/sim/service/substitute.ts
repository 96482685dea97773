import Module from 'node:module';
import { basename, join } from 'node:path';

/**
 * Imported before the engine: what it keeps in PostgreSQL, it keeps in the memory of the simulation then. Each module of
 * `store/` here stands in for the one of the same name in the executions service (functions of one statement), `scope`
 * for the transaction scope of packages/postgres; everything above them is what runs in production.
 */

type Resolve = (request: string, parent: { filename?: string } | undefined, ...rest: unknown[]) => string;
const loader = Module as unknown as { _resolveFilename: Resolve };

const root = join(__dirname, '../../..');
const real = join(root, 'services/executions/src');
const names = [
  'executions/store/executions',
  'executions/store/accept',
  'engine/store/tasks',
  'engine/store/instance-states',
  'executions/store/left-runs',
  'events/store/events',
  'engine/store/work',
  'executions/store/queue',
  'engine/store/deferred',
  'groups/store/execution-groups',
  'schedules/store/schedules',
  'store/clock',
];
const substitutes = new Map([
  ...names.map((name): [string, string] => [
    join(real, `${name}.sql.ts`),
    join(__dirname, 'store', `${basename(name)}.sql.ts`),
  ]),
  [join(root, 'packages/postgres/src/transaction-scope.ts'), join(__dirname, 'store/scope.ts')],
]);

const resolve = loader._resolveFilename;
loader._resolveFilename = function (request, parent, ...rest) {
  const found = resolve.call(this, request, parent, ...rest);
  // The substitutes themselves import what they stand in for.
  return parent?.filename?.startsWith(__dirname) ? found : (substitutes.get(found) ?? found);
};
