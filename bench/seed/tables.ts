// Rows in the schemas of the services. Everything is cloned from rows that the services themselves created.
import type pg from 'pg';
import { clone, uuid7, withoutIndexes } from './bulk';
import {
  createdAt,
  ENVIRONMENTS,
  EVENT_STEP,
  PROTOTYPE,
  type SeedSizes,
  SITES,
  TEAMS,
  TENANT,
} from './sizes';

const PROTO = `'${PROTOTYPE}'`;
const id = `'d' || lpad(i::text, 6, '0')`;
const instanceId = (prefix: string, index: string): string =>
  `${prefix} || lpad(to_hex(i), 5, '0') || ${index}`;

export async function seedBlueprints(client: pg.Client, { blueprints }: SeedSizes): Promise<void> {
  await clone(client, {
    table: 'catalog.blueprints',
    change: {
      id: `'bp-' || i`,
      upload_id: 'gen_random_uuid()',
      upload_execution_id: 'gen_random_uuid()',
      created_at: `now() - interval '1 year 1 day' + i * interval '1 second'`,
    },
    from: `from catalog.blueprints p, generate_series(0, ${blueprints - 1}) i where p.id = ${PROTO} order by i`,
  });
}

export async function seedModel(client: pg.Client, sizes: SeedSizes): Promise<void> {
  const { deployments, blueprints } = sizes;
  await client.query(
    `insert into deployments.sites (tenant, name, latitude, longitude, visibility, created_by, created_at)
     select $1, 'site-' || i, i, i, 'tenant', 'admin', now() from generate_series(0, ${SITES - 1}) i`,
    [TENANT],
  );
  const at = createdAt('i', sizes);
  const base = await numberOf(client, `select max(key) as n from deployments.deployments`);
  const sites = await numberOf(
    client,
    `select min(key) as n from deployments.sites where name like 'site-%'`,
  );
  const proto = await numberOf(client, `select key as n from deployments.deployments where id = ${PROTO}`);
  const each = `generate_series(1, ${deployments}) i`;
  const ofProto = `where p.deployment_key = ${proto}`;
  await withoutIndexes(
    client,
    [
      'deployments.deployments',
      'deployments.nodes',
      'deployments.node_instances',
      'deployments.deployment_labels',
    ],
    async () => {
      await clone(client, {
        table: 'deployments.deployments',
        change: {
          key: `${base} + i`,
          id,
          display_name: `'Deployment ' || i`,
          blueprint_id: `'bp-' || i % ${blueprints}`,
          created_at: at,
          updated_at: at,
          site_key: `case when i % 2 = 0 then ${sites} + i / 2 % ${SITES} end`,
          latest_execution: `${uuid7(at, 'i')}::text`,
        },
        from: `from deployments.deployments p, ${each} where p.key = ${proto} order by i`,
      });
      await clone(client, {
        table: 'deployments.nodes',
        change: { deployment_key: `${base} + i`, seq: null },
        from: `from deployments.nodes p, ${each} ${ofProto} order by i, p.seq`,
      });
      await clone(client, {
        table: 'deployments.node_instances',
        change: {
          deployment_key: `${base} + i`,
          id: instanceId(`p.node_id || '_'`, 'p.index'),
          seq: null,
        },
        from: `from ${each}, deployments.node_instances p ${ofProto} order by i, p.seq`,
      });
      await client.query(
        `insert into deployments.deployment_labels (deployment_key, tenant, key, value, created_at, created_by, creator_id)
         select ${base} + i, $1, l.key, l.value, ${at}, 'admin', 0 from ${each}, lateral (values
           ('env', 'e' || i % ${ENVIRONMENTS}), ('team', 't' || i % ${TEAMS}), ('serial', 's' || i)) l(key, value)`,
        [TENANT],
      );
    },
  );
  // Last, and with the indexes in place: texts of lists are written together with the plans, from all other data.
  await clone(client, {
    table: 'deployments.deployment_plans',
    change: { deployment_key: `${base} + i` },
    from: `from deployments.deployment_plans p, ${each} ${ofProto} order by i`,
  });
  await client.query(
    `select setval(pg_get_serial_sequence('deployments.deployments', 'key'), ${base + deployments})`,
  );
}

export async function seedExecutions(client: pg.Client, sizes: SeedSizes): Promise<void> {
  const each = `generate_series(1, ${sizes.deployments}) i`;
  const at = createdAt('i', sizes);
  const executionId = uuid7(at, 'i');
  const proto = `(select e.id from executions.executions e where e.deployment_id = ${PROTO} and e.workflow_id = 'install' limit 1)`;
  await clone(client, {
    table: 'executions.deployment_guards',
    change: { deployment_id: id },
    from: `from executions.deployment_guards p, ${each} where p.deployment_id = ${PROTO}`,
  });
  await withoutIndexes(client, ['executions.executions', 'executions.events'], async () => {
    await clone(client, {
      table: 'executions.executions',
      change: {
        id: executionId,
        request_id: `'seed-' || i`,
        deployment_id: id,
        deployment_display_name: `'Deployment ' || i`,
        blueprint_id: `'bp-' || i % ${sizes.blueprints}`,
        created_at: at,
        started_at: at,
        ended_at: `${at} + interval '1 minute'`,
        token_hash: `'seed-' || i`,
        graph_id: 'null::uuid',
        last_event_seq: String(sizes.eventsPerExecution),
      },
      from: `from executions.executions p, ${each} where p.id = ${proto} order by i`,
    });
    await client.query(
      `create temporary table templates as
       select e.*, row_number() over (order by e.seq) - 1 as nth, n.node_id || '_' as instance_prefix, n.index as instance_index
       from executions.events e left join deployments.node_instances n on n.id = e.node_instance_id where e.execution_id = ${proto}`,
    );
    await clone(client, {
      table: 'executions.events',
      change: {
        storage_id: `nextval(pg_get_serial_sequence('executions.events', 'storage_id'))`,
        execution_id: executionId,
        seq: 'n',
        deployment_id: id,
        deployment_display_name: `'Deployment ' || i`,
        blueprint_id: `'bp-' || i % ${sizes.blueprints}`,
        node_instance_id: instanceId('p.instance_prefix', 'p.instance_index'),
        reported_at: `${at} + n * ${EVENT_STEP}`,
        created_at: `${at} + n * ${EVENT_STEP}`,
      },
      from: `from ${each}, generate_series(1, ${sizes.eventsPerExecution}) n, templates p
        where p.nth = (n - 1) % (select count(*) from templates)`,
    });
    await client.query('drop table templates');
  });
}

async function numberOf(client: pg.Client, text: string): Promise<number> {
  const { rows } = await client.query<{ n: string }>(text);
  return Number(rows[0]!.n);
}
