import type { FernetKey } from '../ciphers/fernet';
import { decryptFernet } from '../ciphers/fernet';
import { parseJson } from '../json/parse-json';
import { instant } from '../model/fields';
import type { RecordType } from '../model/types';
import type { Archive } from '../open-archive';
import { isObject, type Note, type Value, type ValueObject } from '../value';
import type { References } from './references';
import type { Row } from './row';
import type { Spot } from './spool';

/** What the rows of other tables add to an item, and what a dump writes in another way than the pages of 7.0. */
export interface CompletionContext {
  archive: Archive;
  references: References;
  /** A row of a table of children. */
  child(table: string, spot: Spot): Promise<Row>;
  /** Null where the archive has no key, or one that is none. */
  key: FernetKey | null;
}

/** Why a row is skipped as unreadable. */
export class RowUnusable extends Error {
  override readonly name = 'RowUnusable';
}

type Completion = (raw: ValueObject, row: Row, context: CompletionContext) => void | Promise<void>;

const COMPLETIONS: Partial<Record<RecordType, Completion>> = {
  sites: (raw) => {
    const { latitude, longitude } = raw;
    raw.location = latitude != null && longitude != null ? `${String(latitude)}, ${String(longitude)}` : null;
    delete raw.latitude;
    delete raw.longitude;
  },
  secrets: (raw, row, { key }) => {
    raw.value = decrypted(raw.value, 'value', key);
    raw.provider_options = structured(decrypted(raw.provider_options, 'provider_options', key), row);
  },
  secrets_providers: (raw, row, { key }) => {
    raw.connection_parameters = structured(
      decrypted(raw.connection_parameters, 'connection_parameters', key),
      row,
    );
  },
  blueprints: async (raw, row, context) => {
    raw.labels = await labelsOf('blueprints_labels', row, context);
  },
  deployments: async (raw, row, context) => {
    raw.display_name ??= raw.id ?? null;
    raw.labels = await labelsOf('deployments_labels', row, context);
  },
  deployment_groups: async (raw, row, context) => {
    raw.labels = await labelsOf('deployment_groups_labels', row, context);
    raw.deployment_ids = joinedNames('deployment_groups_deployments', 'deployments', row, context);
  },
  node_instances: (raw, row, { references }) => {
    raw.deployment_id = deploymentOfNode(row.integer('_node_fk') ?? null, references);
  },
  agents: (raw, row, { references }) => {
    const node = references.ownerOf('node_instances', row.integer('_node_instance_fk') ?? null);
    raw.deployment_id = deploymentOfNode(node, references);
  },
  execution_groups: (raw, row, context) => {
    raw.execution_ids = joinedNames('execution_groups_executions', 'executions', row, context).filter(
      (id) => !context.references.deletedExecutions.has(id),
    );
  },
  events: (raw, row) => {
    raw.type = row.place.table === 'logs' ? 'cloudify_log' : 'cloudify_event';
  },
  tasks_graphs: async (raw, row, context) => {
    const operations: ValueObject[] = [];
    for await (const operation of childrenOf('operations', row, context))
      operations.push(operationOf(operation));
    raw.operations = operations;
  },
  deployment_updates: async (raw, row, context) => {
    const steps: ValueObject[] = [];
    for await (const step of childrenOf('deployment_update_steps', row, context)) steps.push(stepOf(step));
    raw.steps = steps;
  },
};

/** @throws RowUnusable, ArchiveRefused (see Row.read) */
export async function complete(
  type: RecordType,
  raw: ValueObject,
  row: Row,
  context: CompletionContext,
): Promise<void> {
  await COMPLETIONS[type]?.(raw, row, context);
}

const deploymentOfNode = (node: number | null, references: References): string | null =>
  references.nameOf('deployments', references.ownerOf('nodes', node));

/** Rows of an object, one after the other. @throws RowUnusable where together they are longer than a line may be */
async function* childrenOf(
  table: string,
  row: Row,
  context: CompletionContext,
): AsyncGenerator<Row, void, void> {
  const spots = context.references.childrenOf(table, row.integer('_storage_id')!);
  const { maxLineBytes } = context.archive.limits;
  let bytes = 0;
  for (const spot of spots) {
    bytes += spot.length;
    if (bytes > maxLineBytes)
      throw new RowUnusable(`its rows in ${table} have more than ${maxLineBytes} bytes`);
    yield await context.child(table, spot);
  }
}

function joinedNames(table: string, of: string, row: Row, { references }: CompletionContext): string[] {
  return references
    .joined(table, row.integer('_storage_id')!)
    .map(([key]) => references.nameOf(of, key!))
    .filter((name) => name !== null);
}

async function labelsOf(table: string, row: Row, context: CompletionContext): Promise<Value[]> {
  const labels: Value[] = [];
  for await (const label of childrenOf(table, row, context)) {
    labels.push({
      key: label.text('key') ?? null,
      value: label.text('value') ?? null,
      created_at: label.text('created_at') ?? null,
      created_by: context.references.nameOf('users', label.integer('_creator_id') ?? null),
    });
  }
  return labels;
}

function operationOf(row: Row): ValueObject {
  const read = (column: string): Value => row.text(column) ?? null;
  return {
    id: read('id'),
    name: read('name'),
    state: read('state'),
    type: read('type'),
    created_at: instant.read(read('created_at')) ?? null,
    dependencies: row.read('dependencies', 'list') ?? [],
    parameters: row.read('parameters', 'json') ?? null,
    manager_name: read('manager_name'),
    agent_name: read('agent_name'),
  };
}

/** Since 6.4 the id of an entity is a list; before, its parts were joined by colons. */
function stepOf(row: Row): ValueObject {
  const id = row.text('entity_id') ?? '';
  return {
    action: row.text('action') ?? null,
    entity_type: row.text('entity_type') ?? null,
    entity_id: id.startsWith('{') ? (row.read('entity_id', 'list') ?? []) : id.split(':'),
    topology_order: row.integer('topology_order') ?? 0,
  };
}

function decrypted(value: Value | undefined, field: string, key: FernetKey | null): Value {
  if (typeof value !== 'string' || value === '') return null;
  if (!key)
    throw new RowUnusable(
      `${field} is encrypted, and there is no key: expected encryption_key of rest-security.conf`,
    );
  const result = decryptFernet(value, key);
  if ('text' in result) return result.text;
  throw new RowUnusable(
    result.fault === 'wrong-key'
      ? `${field} cannot be decrypted: the key is not the one that encrypted it`
      : `${field} cannot be decrypted: it is no text that a manager encrypted`,
  );
}

/** What is stored as JSON in an encrypted text; a text that is none stays a text. */
function structured(value: Value, row: Row): Value {
  if (typeof value !== 'string') return value;
  try {
    const { value: parsed, notes } = parseJson(Buffer.from(value), row.place, 100);
    row.notes.push(...(notes as Note[]));
    return isObject(parsed) || Array.isArray(parsed) ? parsed : value;
  } catch {
    return value;
  }
}
