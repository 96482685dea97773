// Of each route the console needs method and path. The contracts hold schemas besides, which would bring zod and 6,000 lines.
import { createRequire } from 'node:module';
import { build } from 'esbuild';

/** The module that holds all contracts. */
export const contracts = '@baton/contracts/http/all';
const FOUND = '\0slim-routes';

/** `[{id, method, path}]` of all routes, read from the contracts themselves. */
async function routesOf(folder) {
  const { outputFiles } = await build({
    stdin: { contents: `export { allRoutes } from '${contracts}';`, resolveDir: folder },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
    logLevel: 'error',
  });
  const module = { exports: {} };
  new Function('module', 'exports', 'require', outputFiles[0].text)(
    module,
    module.exports,
    createRequire(import.meta.url),
  );
  return module.exports.allRoutes.map(({ id, method, path }) => ({ id, method, path }));
}

/** Returns the source of a module that is like `contracts`, with the slim table. */
export const slimContracts = async () =>
  `export const allRoutes = ${JSON.stringify(await routesOf(import.meta.dirname))};`;

/** A plugin of Vite that puts the slim table in the place of the contracts. */
export function slimRoutes() {
  return {
    name: 'slim-routes',
    enforce: 'pre',
    resolveId: (id) => (id === contracts ? FOUND : undefined),
    load: async (id) => (id === FOUND ? await slimContracts() : undefined),
  };
}
