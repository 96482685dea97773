import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

let service: TestDeployments;
beforeAll(async () => {
  service = await startTestDeployments();
});
afterAll(() => service.stop());

test('reads deployments that are asked for at the same moment together, each by the rights of who asks', async () => {
  await service.create('together-1');
  await service.create('together-2', { visibility: 'private' });
  await service.create('together-3', { blueprint_id: 'global-bp', visibility: 'global' });
  const ids = ['together-1', 'together-2', 'none', 'together-3'];
  const callers = [
    principal('admin'),
    principal('bob'),
    principal('carol', { tenant: 't2', tenants: [{ name: 't2', roles: ['user'] }] }),
  ];
  const readAll = async (ask: typeof callers) =>
    await Promise.all(
      ask.flatMap((as) =>
        ids.map(async (id) => {
          const { status, body } = await service.call('GET', `/deployments/${id}`, undefined, as);
          return status === 200 ? body.id : status;
        }),
      ),
    );
  const seen = [
    ['together-1', 'together-2', 404, 'together-3'],
    ['together-1', 404, 404, 'together-3'],
  ];
  const ofOthers = [404, 404, 404, 'together-3'];
  expect(await readAll(callers)).toEqual([...seen.flat(), ...ofOthers]);
  expect(await readAll([...callers].reverse())).toEqual([...ofOthers, ...[...seen].reverse().flat()]);
  const one = await service.call('GET', '/deployments/together-1');
  expect((await service.call('GET', '/deployments?id=together-1')).body.items).toEqual([one.body]);
  const before = service.statements();
  const sixteen = Array.from({ length: 16 }, () => service.call('GET', '/deployments/together-1'));
  expect(new Set((await Promise.all(sixteen)).map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(service.statements() - before).toBeLessThan(16);
});
