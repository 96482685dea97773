import type { ArchiveRecord } from '@baton/cloudify-archive';
import type { ReportLine } from '../store/report.sql';
import { adviceFor, agentOfInstance, agentOfRecord, type FoundAgent, hostOperations } from './agents';
import { idOf } from './choice';

/** Lines of one kind that are told one by one; further ones are in the totals. */
const MAX_TOLD = 10_000;

interface Counted {
  tenant: string;
  deployment: string;
  operations: number;
  agents: number;
}

/**
 * What is wrong with an archive as a whole, found record by record in restore order: references between objects of different
 * services, objects that two tenants bring into one, agents. Memory: the ids of blueprints, deployments and users, and of all objects
 * where tenants are joined.
 */
export class Findings {
  readonly #known = new Set<string>();
  readonly #missing = new Map<string, number>();
  readonly #agents = new Set<string>();
  readonly #counted = new Map<string, Counted>();
  readonly #seen: Set<string> | null;
  collisions = 0;

  /** @param isJoined several tenants of the archive become one here. `hasOwners`: objects keep their owners. */
  constructor(
    isJoined: boolean,
    private readonly hasOwners: boolean,
  ) {
    this.#seen = isJoined ? new Set() : null;
  }

  /** Lines about a record that is imported into `tenant` (empty: of the whole manager). */
  see(record: ArchiveRecord, tenant: string, place: string): ReportLine[] {
    return [
      ...this.#collision(record, tenant, place),
      ...this.#references(record, tenant),
      ...this.#agentLines(record, tenant, place),
    ];
  }

  /** Lines that need the end of the archive, and the number of deployments with operations on agents. */
  end(): { lines: ReportLine[]; deploymentsWithAgents: number } {
    const lines: ReportLine[] = [...this.#counted.values()].map(
      ({ tenant, deployment, operations, agents }) => ({
        kind: 'agent',
        type: 'deployments',
        tenant,
        id: deployment,
        code: 'needs_agents',
        operations,
        agents,
        text: `${operations} operations run on an agent, and ${agents} agents are installed`,
      }),
    );
    for (const [key, count] of this.#missing) {
      const [code, tenant, id] = JSON.parse(key) as [string, string, string];
      lines.push({ kind: 'reference', code, tenant, id, count, text: MISSING[code]!(id, count) });
    }
    return { lines, deploymentsWithAgents: this.#counted.size };
  }

  #collision(record: ArchiveRecord, tenant: string, place: string): ReportLine[] {
    if (!this.#seen || tenant === '' || record.type === 'events') return [];
    const key = JSON.stringify([record.type, tenant, idOf(record)]);
    if (!this.#seen.has(key)) {
      this.#seen.add(key);
      return [];
    }
    this.collisions++;
    if (this.collisions > MAX_TOLD) return [];
    return [
      {
        kind: 'collision',
        type: record.type,
        tenant,
        id: idOf(record),
        code: 'taken_twice',
        text: `Two tenants that become ${tenant} both have it`,
        place,
      },
    ];
  }

  #references(record: ArchiveRecord, tenant: string): [] {
    const { type, item } = record;
    if (type === 'users') this.#known.add(keyOf('owner', '', item.username));
    else if (this.hasOwners && 'created_by' in item && item.created_by !== null)
      this.#refer('owner_missing', keyOf('owner', '', item.created_by), '', item.created_by);
    if (type === 'blueprints') this.#known.add(keyOf('blueprint', tenant, item.id));
    if (type === 'deployments') {
      this.#known.add(keyOf('deployment', tenant, item.id));
      const blueprint = item.blueprint_id;
      if (blueprint !== null)
        this.#refer('blueprint_missing', keyOf('blueprint', tenant, blueprint), tenant, blueprint);
    }
    if ((type === 'executions' || type === 'execution_schedules') && item.deployment_id !== null)
      this.#refer(
        'deployment_missing',
        keyOf('deployment', tenant, item.deployment_id),
        tenant,
        item.deployment_id,
      );
    return [];
  }

  #refer(code: string, key: string, tenant: string, id: string): void {
    if (this.#known.has(key) || (code === 'owner_missing' && id === 'admin')) return;
    const missing = keyOf(code, tenant, id);
    if (this.#missing.has(missing) || this.#missing.size < MAX_TOLD)
      this.#missing.set(missing, (this.#missing.get(missing) ?? 0) + 1);
  }

  #agentLines(record: ArchiveRecord, tenant: string, place: string): ReportLine[] {
    if (record.type === 'nodes') {
      const operations = hostOperations(record.item);
      if (operations > 0) this.#count(tenant, record.item.deployment_id).operations += operations;
    }
    if (record.type === 'node_instances')
      return this.#agentLine(record, { tenant, place }, record.item.id, agentOfInstance(record.item));
    if (record.type === 'agents' && record.item.install_method !== 'none')
      return this.#agentLine(
        record,
        { tenant, place },
        record.item.node_instance_id,
        agentOfRecord(record.item),
      );
    return [];
  }

  #agentLine(
    record: ArchiveRecord & { type: 'node_instances' | 'agents' },
    { tenant, place }: { tenant: string; place: string },
    instance: string | null,
    agent: FoundAgent | null,
  ): ReportLine[] {
    const key = keyOf('agent', tenant, instance ?? '');
    if (!agent || this.#agents.has(key)) return [];
    this.#agents.add(key);
    const deployment = record.item.deployment_id ?? '';
    this.#count(tenant, deployment).agents++;
    const where = agent.ip === null ? '' : ` at ${agent.ip}`;
    return [
      {
        kind: 'agent',
        type: 'agents',
        tenant,
        id: agent.name,
        code: 'agent_found',
        deployment_id: deployment,
        node_instance_id: instance,
        install_method: agent.installMethod,
        text: `Agent of ${instance}${where}: ${adviceFor(agent.installMethod)}`,
        place,
      },
    ];
  }

  #count(tenant: string, deployment: string): Counted {
    const key = keyOf('deployment', tenant, deployment);
    let counted = this.#counted.get(key);
    if (!counted) this.#counted.set(key, (counted = { tenant, deployment, operations: 0, agents: 0 }));
    return counted;
  }
}

const keyOf = (kind: string, tenant: string, id: string): string => JSON.stringify([kind, tenant, id]);

const MISSING: Readonly<Record<string, (id: string, count: number) => string>> = {
  owner_missing: (id, count) => `User ${id} owns ${count} objects and is not in the archive`,
  blueprint_missing: (id, count) => `${count} deployments are of blueprint ${id}, which is not imported`,
  deployment_missing: (id, count) =>
    `${count} executions and schedules are of deployment ${id}, which is not imported`,
};
