import { startCluster } from './testing/cluster-setup';

let cluster: Awaited<ReturnType<typeof startCluster>>;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.close());

it('adds entries of another manager, pages and follows them, and deletes the old ones', async () => {
  const { call } = cluster;
  const entry = { ref_table: 'sites', operation: 'create' };
  const json = [2019, 2020, 2021].map((year) => ({
    ...entry,
    ref_id: year,
    created_at: `${year}-01-01T00:00:00Z`,
  }));
  expect((await call('POST', '/audit', { json })).status).toBe(204);

  const { items, metadata } = (await call('GET', '/audit?size=2&order_by=ref_id&desc=true')).body;
  expect(items.map((one: { ref_id: string }) => one.ref_id)).toEqual(['2021', '2020']);
  expect(items[0]).toMatchObject({ ...entry, creator_name: 'admin', execution_id: null });
  expect(metadata).toEqual({ pagination: { total: 3, offset: 0, size: 2 } });

  const { text } = await call('GET', '/audit/stream?since=2020-01-01&timeout=1');
  const sent = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
  expect(sent.map(({ ref_id }) => ref_id)).toEqual(['2020', '2021']);
  expect(Object.keys(sent[0]).sort()).toEqual(Object.keys(items[0]).sort());
  expect(text).toContain(`id: ${sent[0].id}\n`);

  expect((await call('DELETE', '/audit?before=2020-06-01')).body).toEqual({ deleted: 2 });
  expect((await call('GET', '/audit')).body.metadata.pagination.total).toBe(1);
});
