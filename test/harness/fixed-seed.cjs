// A change is judged by the same cases as the one before it; BATON_PROP_EFFORT=20 looks for new ones, twenty times as many.

if (expect.getState().testPath.endsWith('.prop.test.ts') && !process.env.BATON_PROP_EFFORT)
  require('fast-check').configureGlobal({ seed: 20_261_122 });
