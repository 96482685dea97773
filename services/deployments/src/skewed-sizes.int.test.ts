// A few large deployments among small ones: the query plan for a small one must not assume that all are large.
import { sql } from 'kysely';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let deployments: TestDeployments;
beforeAll(async () => {
  deployments = await startTestDeployments();
  await deployments.create('model');
  await sql`insert into deployments (tenant, id, blueprint_id, display_name, visibility, created_by)
    select 'default_tenant', 'large' || i, 'bp', 'large', 'tenant', 'ann' from generate_series(1, 5) i`.execute(
    deployments.db.query,
  );
  await sql`insert into node_instances (tenant, id, deployment_key, node_id, index, visibility)
    select d.tenant, 'n' || i || '_' || d.id, d.key, 'n' || i, 1, 'tenant' from deployments d, generate_series(1, 1000) i
    where d.id like 'large%'`.execute(deployments.db.query);
  await sql`analyze node_instances`.execute(deployments.db.query);
});
afterAll(() => deployments.stop());

test('the instances of any deployment are found by an index', async () => {
  const client = await deployments.db.pool.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(
      'prepare of_deployment(bigint) as select * from node_instances where deployment_key = $1',
    );
    const { rows } = await client.query('explain execute of_deployment(1)');
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('Seq Scan');
  } finally {
    client.release(true);
  }
});
