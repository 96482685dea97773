// A change is judged by the same cases as the one before it. BATON_PROP_EFFORT=20 looks for new ones, twenty times as many;
// less than 1 is a part of the usual ones (`npm run check`).

if (expect.getState().testPath.endsWith('.prop.test.ts') && Number(process.env.BATON_PROP_EFFORT ?? 1) <= 1)
  require('fast-check').configureGlobal({ seed: 20_261_122 });
