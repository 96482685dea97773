import { type Item, recordReader } from '@baton/cloudify-archive';
import {
  type Fate,
  type ImportContext,
  type Importer,
  type Judgement,
  ownerOf,
  type StagedRecord,
} from '@baton/import-part';
import { judgeByExecution, type TakenExecution, takenExecutions } from './records';

type Event = Item<'events'>;
const read = recordReader('events');

/** Events and log lines. They have no ids: those of one execution are taken together, once. */
export const events: Importer = {
  type: 'events',
  async take(context, staged) {
    const fates: Fate[] = [];
    const wanted: { event: Event; at: number }[] = [];
    const items = staged.map(({ item }) => read(item));
    await lookUp(
      context,
      items.flatMap((one) => ('item' in one ? [one.item] : [])),
    );
    const groups = await knownGroups(
      context,
      items.flatMap((one) => ('item' in one ? [one.item] : [])),
    );
    for (const [at, one] of items.entries()) {
      if ('problem' in one)
        fates[at] = { id: placeOf(staged[at]!), fate: 'lost', code: 'invalid', text: one.problem };
      else {
        fates[at] = fateOf(context, one.item, groups);
        if (fates[at].fate === 'imported') wanted.push({ event: one.item, at });
      }
    }
    await insertEvents(context, wanted, fates);
    return fates;
  },
};

const placeOf = ({ place }: StagedRecord): string => place;

/** Finds out which executions of earlier imports have their events already. */
async function lookUp(context: ImportContext, items: readonly Event[]): Promise<void> {
  const taken = takenExecutions(context);
  const asked = new Set(
    items.flatMap(({ execution_id: id }) => (id !== null && taken.get(id)?.lastSeq === null ? [id] : [])),
  );
  if (asked.size === 0) return;
  const { rows } = await context.client.query<{ id: string; last: number }>(
    'select id, last_event_seq as last from executions where id = any($1::uuid[])',
    [[...asked]],
  );
  for (const { id, last } of rows) Object.assign(taken.get(id)!, { lastSeq: last, hasEvents: last > 0 });
}

async function knownGroups(context: ImportContext, items: readonly Event[]): Promise<Set<string>> {
  const ids = new Set(
    items.flatMap(({ execution_id: id, execution_group_id: group }) =>
      id === null && group !== null ? [group] : [],
    ),
  );
  if (ids.size === 0) return new Set();
  const { rows } = await context.client.query<{ id: string }>(
    'select id from execution_groups where tenant = $1 and id = any($2::text[])',
    [context.tenant, [...ids]],
  );
  return new Set(rows.map(({ id }) => id));
}

const NOT_WANTED: Judgement = { fate: 'skipped', code: 'not-wanted', text: 'the options leave it out' };

/** Decides what becomes of one event. */
function fateOf(context: ImportContext, event: Event, groups: ReadonlySet<string>): Fate {
  const { options } = context;
  const id = event.execution_id ?? event.execution_group_id ?? '?';
  const isWanted =
    options.events === 'all' ||
    (options.events === 'since' &&
      Date.parse(event.timestamp) >= Date.parse(options.events_since ?? event.timestamp));
  if (event.execution_id === null) {
    if (event.execution_group_id === null || !groups.has(event.execution_group_id))
      return { id, fate: 'lost', code: 'dangling', text: 'its execution group is not imported' };
    return isWanted ? { id, fate: 'imported' } : { id, ...NOT_WANTED, fate: 'skipped' };
  }
  const judgement = judgeByExecution(context, event.execution_id);
  if (judgement) return { id, ...judgement, fate: judgement.fate === 'lost' ? 'lost' : 'skipped' };
  const taken = takenExecutions(context).get(event.execution_id)!;
  if (taken.hasEvents) return { id, fate: 'same' };
  return isWanted ? { id, fate: 'imported' } : { id, ...NOT_WANTED, fate: 'skipped' };
}

async function insertEvents(
  context: ImportContext,
  wanted: readonly { event: Event; at: number }[],
  fates: Fate[],
): Promise<void> {
  if (wanted.length === 0) return;
  const { client } = context;
  await client.query('savepoint events');
  try {
    const taken = takenExecutions(context);
    const rows = wanted.map(({ event }, place) => ({
      place,
      ...rowOf(event, taken.get(event.execution_id ?? '')),
    }));
    await client.query(INSERT, [context.tenant, JSON.stringify(rows)]);
    await client.query('release savepoint events');
  } catch (error) {
    if (!/^(22|23|54)/.test(String((error as { code?: unknown }).code))) throw error;
    await client.query('rollback to savepoint events');
    if (wanted.length === 1) {
      const { at } = wanted[0]!;
      fates[at] = { ...fates[at]!, fate: 'lost', code: 'not-storable', text: 'the database refuses it' };
      return;
    }
    // Numbers were given to events that are not there.
    for (const { event } of wanted) {
      const taken = takenExecutions(context).get(event.execution_id ?? '');
      if (taken) taken.isUnordered = true;
    }
    const half = wanted.length >> 1;
    await insertEvents(context, wanted.slice(0, half), fates);
    await insertEvents(context, wanted.slice(half), fates);
  }
}

/** Gives an event its number; those whose times are not in order are numbered anew at the end (finish.ts). */
function rowOf(event: Event, taken: TakenExecution | undefined): Record<string, unknown> {
  let seq = 0;
  if (taken) {
    seq = taken.lastSeq = (taken.lastSeq ?? 0) + 1;
    if (event.timestamp < taken.lastAt) taken.isUnordered = true;
    else taken.lastAt = event.timestamp;
  }
  const isLog = event.type === 'cloudify_log';
  return {
    ...{
      execution: event.execution_id,
      group: event.execution_id === null ? event.execution_group_id : null,
      seq,
    },
    is_log: isLog,
    event_type: isLog ? null : event.event_type,
    level: isLog ? (event.level ?? 'info') : null,
    logger: isLog ? event.logger : null,
    message: event.message,
    error_causes: event.error_causes,
    operation: event.operation,
    node_instance_id: event.node_instance_id,
    node_name: nodeOf(event.node_instance_id),
    source_id: event.source_id,
    target_id: event.target_id,
    worker: event.agent_name,
    blueprint_id: event.blueprint_id,
    deployment_id: event.deployment_id,
    workflow_id: event.workflow_id,
    reported_at: event.reported_timestamp ?? event.timestamp,
    created_at: event.timestamp,
    created_by: ownerOf(null),
  };
}

/** Ids of instances are the name of their node and a suffix; archives do not name the node. */
const nodeOf = (instanceId: string | null): string | null =>
  /^(.+)_[^_]+$/.exec(instanceId ?? '')?.[1] ?? null;

const INSERT = `insert into events (tenant, execution_id, execution_group_id, seq, is_log, event_type, level, logger, message, error_causes,
    operation, node_instance_id, node_name, source_id, target_id, worker, blueprint_id, deployment_id, deployment_display_name,
    workflow_id, visibility, created_by, reported_at, created_at)
  select $1, v.execution, v.group, v.seq, v.is_log, v.event_type, v.level, v.logger, v.message, nullif(v.error_causes, 'null'),
    v.operation, v.node_instance_id, v.node_name, v.source_id, v.target_id, v.worker, coalesce(v.blueprint_id, e.blueprint_id),
    coalesce(v.deployment_id, e.deployment_id), coalesce(e.deployment_display_name, v.deployment_id),
    coalesce(v.workflow_id, e.workflow_id, g.workflow_id), coalesce(e.visibility, g.visibility, 'tenant'),
    coalesce(e.created_by, g.created_by, v.created_by), v.reported_at, v.created_at
  from jsonb_to_recordset($2::jsonb) as v(place integer, execution uuid, "group" text, seq bigint, is_log boolean, event_type text,
    level text, logger text, message text, error_causes jsonb, operation text, node_instance_id text, node_name text,
    source_id text, target_id text, worker text, blueprint_id text, deployment_id text, workflow_id text,
    reported_at timestamptz, created_at timestamptz, created_by text)
    left join executions e on e.id = v.execution
    left join execution_groups g on g.tenant = $1 and g.id = v.group
  order by v.place`;
