import { camel, isKebab, placeOf } from './names.mjs';

const loop = (name) => `import type { Loop } from '@baton/service-runtime';

const INTERVAL_MS = 5_000;
/** Bounds one tick; a full batch asks for the next tick at once. */
const BATCH = 50;

export interface ${camel(`x-${name}`).slice(1)}Deps {
  /** Answers how many rows it changed, at most \`limit\`; claims them with SKIP LOCKED so that replicas share the work. */
  work(limit: number): Promise<number>;
}

/** Says what is repaired or done, and why twice at the same time does no harm. */
export function ${camel(name)}Loop(deps: ${camel(`x-${name}`).slice(1)}Deps): Loop {
  return {
    name: '${name}',
    intervalMs: INTERVAL_MS,
    tickOnce: async () => ({ again: (await deps.work(BATCH)) === BATCH }),
  };
}
`;

const test = (name) => `import { ${camel(name)}Loop } from './${name}.loop';

test('a full batch asks for the next tick at once, a smaller one does not', async () => {
  const done = [50, 3];
  const loop = ${camel(name)}Loop({ work: async () => done.shift() ?? 0 });
  expect(await loop.tickOnce()).toEqual({ again: true });
  expect(await loop.tickOnce()).toEqual({ again: false });
});
`;

/** Returns a loop with its limits and a test; `place`: a service, or a room of one (`executions/schedules`). */
export function newLoop(tree, place, name) {
  if (!isKebab(name)) return { error: 'the name must be kebab-case' };
  const { service, folder } = placeOf(place);
  if (!tree.exists(folder)) return { error: `${folder} is missing` };
  const path = `${folder}/loops/${name}.loop.ts`;
  if (tree.exists(path)) return { error: `${path} exists` };
  return {
    files: [
      { path, text: loop(name) },
      { path: path.replace('.loop.ts', '.loop.test.ts'), text: test(name) },
    ],
    steps: [
      `services/${service}/src/service.ts: add ${camel(name)}Loop(deps) to loops`,
      'write the statement it runs in store/, and a race test with two connections',
    ],
  };
}
