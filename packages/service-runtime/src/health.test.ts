import { createHealth } from './index';

const fails = async () => {
  throw new Error('gone');
};
const works = async () => undefined;

test('readiness follows the stage and the required checks, not the optional ones', async () => {
  const good = createHealth('catalog', { database: works }, { broker: fails });
  expect((await good.readyz()).status).toBe(503);
  good.setStage('ready');
  expect(await good.readyz()).toMatchObject({ status: 200 });
  expect(JSON.parse((await good.readyz()).body).checks).toEqual({
    database: { ok: true, detail: '' },
    broker: { ok: false, detail: 'gone' },
  });
  good.setStage('stopping');
  expect((await good.readyz()).status).toBe(503);
  expect((await good.healthz()).status).toBe(200);

  const bad = createHealth('catalog', { database: fails }, {});
  bad.setStage('ready');
  expect((await bad.readyz()).status).toBe(503);
});
