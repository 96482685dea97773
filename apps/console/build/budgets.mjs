// What a browser loads, gzipped, may not grow beyond these sizes: the build fails.
import { gzipSync } from 'node:zlib';

const KB = 1024;
/**
 * Modules by name of the budget: their chunks, and all chunks and styles that those import statically; `without` those that
 * the shell and the lists need anyway. An `asset` is a file by its name: a worker is built for itself.
 */
const BUDGETS = [
  { name: 'shell', entries: ['src/main.tsx'], mostBytes: 180 * KB },
  {
    name: 'list page',
    entries: ['src/main.tsx', 'src/deployments/deployments-screen.tsx'],
    mostBytes: 240 * KB,
  },
  {
    name: 'editor',
    entries: ['src/editor/editor-screen.tsx', 'src/editor/code-pane.tsx'],
    without: ['src/main.tsx', 'src/deployments/deployments-screen.tsx'],
    mostBytes: 170 * KB,
  },
  { name: 'parser of the editor', asset: /\/dsl\.worker-/, mostBytes: 120 * KB },
];

/** A plugin of Vite that measures the chunks before they are written. */
export function budgets() {
  return {
    name: 'budgets',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const sizes = BUDGETS.map((budget) => ({ ...budget, bytes: sizeOf(bundle, budget) }));
        for (const { name, bytes, mostBytes } of sizes)
          console.log(`console: ${name} ${(bytes / KB).toFixed(1)} KB of ${mostBytes / KB} KB (gzip)`);
        const over = sizes.filter(({ bytes, mostBytes }) => bytes > mostBytes);
        if (over.length > 0) this.error(`over budget: ${over.map(({ name }) => name).join(', ')}`);
      },
    },
  };
}

function sizeOf(bundle, { entries, without = [], asset }) {
  const names = asset ? Object.keys(bundle).filter((name) => asset.test(name)) : namesOf(bundle, entries);
  if (names.length === 0) throw new Error(`budgets: no file is like ${asset}`);
  const elsewhere = new Set(namesOf(bundle, without));
  return names
    .filter((name) => !elsewhere.has(name))
    .reduce((sum, name) => sum + gzipSync(bundle[name].code ?? bundle[name].source).length, 0);
}

function namesOf(bundle, entries) {
  const names = new Set();
  const add = (name) => {
    if (names.has(name) || !bundle[name]) return;
    names.add(name);
    const chunk = bundle[name];
    for (const one of [...(chunk.imports ?? []), ...(chunk.viteMetadata?.importedCss ?? [])]) add(one);
  };
  for (const entry of entries) {
    const chunk = Object.values(bundle).find((one) => one.moduleIds?.some((id) => id.endsWith(`/${entry}`)));
    if (!chunk) throw new Error(`budgets: no chunk has ${entry}`);
    add(chunk.fileName);
  }
  return [...names];
}
