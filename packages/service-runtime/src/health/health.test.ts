import { createHealth } from '..';

const fails = async () => {
  throw new Error('gone');
};
const works = async () => undefined;

test('readiness follows the stage and the required checks, not the optional ones nor excluded ones', async () => {
  const good = createHealth('catalog', { required: { database: works }, optional: { cache: fails } });
  expect((await good.readyz()).status).toBe(503);
  good.setStage('ready');
  expect(await good.readyz()).toMatchObject({ status: 200 });
  expect(JSON.parse((await good.readyz()).body).checks).toEqual({
    database: { ok: true, detail: '' },
    cache: { ok: false, detail: 'gone' },
  });
  good.setStage('stopping');
  expect((await good.readyz()).status).toBe(503);
  expect((await good.healthz()).status).toBe(200);

  const bad = createHealth('catalog', { required: { broker: fails }, optional: {} });
  bad.setStage('ready');
  expect(JSON.parse((await bad.readyz('/readyz')).body)).toMatchObject({
    status: 'failing',
    checks: { broker: { ok: false, detail: 'gone' } },
  });
  expect((await bad.readyz('/readyz')).status).toBe(503);
  expect((await bad.readyz('/readyz?exclude=broker')).status).toBe(200);
  expect((await bad.readyz('/readyz?exclude=database')).status).toBe(503);
});

test('the one that answers for a process tells what fails in the services behind it', async () => {
  const behind = createHealth('catalog', { required: { database: fails }, optional: { cache: fails } });
  const front = createHealth('gateway', {
    required: { broker: works },
    optional: {},
    others: () => [{ name: 'catalog', health: behind }],
  });
  front.setStage('ready');
  const { status, body } = await front.readyz();
  expect(status).toBe(503);
  expect(JSON.parse(body).checks).toEqual({
    broker: { ok: true, detail: '' },
    database: { ok: false, detail: 'gone' },
  });
});

test('a check may say something although all is well', async () => {
  const health = createHealth('worker', { required: { isolation: async () => 'bubblewrap' }, optional: {} });
  health.setStage('ready');
  expect(JSON.parse((await health.readyz()).body).checks).toEqual({
    isolation: { ok: true, detail: 'bubblewrap' },
  });
  expect((await health.readyz()).status).toBe(200);
});
