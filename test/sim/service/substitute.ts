import Module from 'node:module';
import { basename, join } from 'node:path';

/**
 * Imported before the engine: replaces the engine's PostgreSQL storage by the memory of the simulation. Each module of `store/`
 * here replaces the one of the same name in the executions service (functions of one statement); `scope` replaces the transaction
 * scope of packages/postgres. Everything above them is production code.
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
  // The substitutes themselves import the modules that they replace.
  return parent?.filename?.startsWith(__dirname) ? found : (substitutes.get(found) ?? found);
};
