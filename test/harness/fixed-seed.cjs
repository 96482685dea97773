// Property tests use a fixed seed, so that consecutive changes are tested with the same cases. BATON_PROP_EFFORT=20 runs twenty
// times as many new cases; a value below 1 runs a part of the usual ones (`npm run check`).

if (expect.getState().testPath.endsWith('.prop.test.ts') && Number(process.env.BATON_PROP_EFFORT ?? 1) <= 1)
  require('fast-check').configureGlobal({ seed: 20_261_122 });
