/** Which records of an archive are imported, and under which tenant. */
import type { ArchiveRecord } from '@baton/cloudify-archive';
import type { ImportOptions } from '@baton/contracts';

/** The deployments that were chosen, with all that they need; by tenant of the archive. */
export type Closure = ReadonlyMap<string, TenantClosure>;
export interface TenantClosure {
  deployments: ReadonlySet<string>;
  blueprints: ReadonlySet<string>;
  sites: ReadonlySet<string>;
  secrets: ReadonlySet<string>;
  providers: ReadonlySet<string>;
  /** package_name of plugins. */
  plugins: ReadonlySet<string>;
  owners: ReadonlySet<string>;
}

/** Code of the total line for records that are left out. */
export type LeftOut =
  | 'tenant_not_chosen'
  | 'not_of_chosen_deployments'
  | 'events_not_asked'
  | 'users_ignored';

/** Decides record by record; asked in the order of the archive. */
export class Choice {
  /** Executions of chosen deployments, by tenant. */
  readonly #executions = new Set<string>();
  readonly #allOwners: ReadonlySet<string>;

  constructor(
    private readonly options: ImportOptions,
    private readonly closure: Closure | null,
  ) {
    this.#allOwners = new Set([...(closure?.values() ?? [])].flatMap(({ owners }) => [...owners]));
  }

  /** Tenant here; null: the tenant is not imported. With a map, only the tenants that it names are. */
  tenantOf(name: string): string | null {
    if (this.closure && !this.closure.has(name)) return null;
    const { tenants } = this.options;
    if (!tenants) return name;
    if (Object.hasOwn(tenants, name)) return tenants[name] ?? null;
    return null;
  }

  /** Null: the record is taken. */
  leftOut(record: ArchiveRecord): LeftOut | null {
    if (record.tenant !== null && this.tenantOf(record.tenant) === null) return 'tenant_not_chosen';
    if (record.type === 'tenants' && this.tenantOf(record.item.name) === null) return 'tenant_not_chosen';
    if (this.options.users === 'ignore' && (record.type === 'users' || record.type === 'user_groups'))
      return 'users_ignored';
    if (record.type === 'events' && !this.#isEventAsked(record.item.timestamp)) return 'events_not_asked';
    if (this.closure && !this.#isOfClosure(record, this.closure)) return 'not_of_chosen_deployments';
    return null;
  }

  #isEventAsked(timestamp: string): boolean {
    const { events, events_since: since } = this.options;
    if (events === 'none') return false;
    return events === 'all' || since === undefined || Date.parse(timestamp) >= Date.parse(since);
  }

  #isOfClosure(record: ArchiveRecord, closure: Closure): boolean {
    if (record.type === 'users') return this.#allOwners.has(record.item.username);
    if (record.type === 'tenants') return true;
    if (record.tenant === null) return false;
    const chosen = closure.get(record.tenant)!;
    switch (record.type) {
      case 'sites':
        return chosen.sites.has(record.item.name);
      case 'plugins':
        return record.item.package_name !== null && chosen.plugins.has(record.item.package_name);
      case 'secrets_providers':
        return chosen.providers.has(record.item.name);
      case 'secrets':
        return chosen.secrets.has(record.item.key);
      case 'blueprints':
        return chosen.blueprints.has(record.item.id);
      case 'deployments':
        return chosen.deployments.has(record.item.id);
      case 'inter_deployment_dependencies':
        return chosen.deployments.has(record.item.source_deployment_id ?? '');
      case 'nodes':
      case 'node_instances':
      case 'agents':
      case 'deployment_updates':
      case 'deployment_modifications':
      case 'execution_schedules':
        return chosen.deployments.has(record.item.deployment_id ?? '');
      case 'executions':
        return this.#noteExecution(record.tenant, record.item.id, chosen, record.item.deployment_id);
      case 'events':
      case 'tasks_graphs':
        return this.#executions.has(JSON.stringify([record.tenant, record.item.execution_id]));
      default:
        return false;
    }
  }

  #noteExecution(tenant: string, id: string, chosen: TenantClosure, deployment: string | null): boolean {
    const isChosen = chosen.deployments.has(deployment ?? '');
    if (isChosen) this.#executions.add(JSON.stringify([tenant, id]));
    return isChosen;
  }
}

/** What people know an object by. */
export function idOf({ type, item }: ArchiveRecord): string {
  switch (type) {
    case 'tenants':
    case 'user_groups':
    case 'sites':
    case 'secrets_providers':
      return item.name;
    case 'users':
      return item.username;
    case 'permissions':
      return `${item.role}/${item.permission}`;
    case 'secrets':
      return item.key;
    case 'nodes':
      return `${item.deployment_id}/${item.id}`;
    case 'execution_schedules':
      return `${item.deployment_id}/${item.id}`;
    case 'events':
      return item.execution_id ?? item.execution_group_id ?? '';
    default:
      return item.id;
  }
}
