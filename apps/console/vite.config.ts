import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { budgets } from './build/budgets.mjs';
import { precompress } from './build/precompress.mjs';
import { preloadShared } from './build/preload-shared.mjs';
import { slimRoutes } from './build/slim-routes.mjs';

/** `BATON_API` of `npx vite`: the manager whose API the development server shows. */
const manager = process.env.BATON_API ?? 'http://127.0.0.1:8080';

/**
 * Few chunks: a browser loads six files at a time, and each takes a round trip. The shell is one file. Another file has all modules
 * that four or more screens use.
 */
const CHUNKS = [
  { name: 'shell', tags: ['$initial' as const], priority: 2 },
  { name: 'shared', minShareCount: 4, priority: 1 },
];

export default defineConfig({
  root: import.meta.dirname,
  base: '/ui/',
  plugins: [react(), slimRoutes(), preloadShared(), budgets(), precompress()],
  worker: { format: 'es' },
  server: { port: 5173, proxy: { '/api': manager } },
  build: {
    outDir: process.env.BATON_CONSOLE_OUT ?? '../../dist/apps/console',
    emptyOutDir: true,
    // light-dark() and nesting stay as they are.
    target: ['chrome125', 'firefox128', 'safari17.5'],
    // Inlined files would be data URLs, which the policy allows for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
  },
});
