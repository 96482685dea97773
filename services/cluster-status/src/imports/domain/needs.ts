import type { ArchiveRecord } from '@baton/cloudify-archive';
import type { Closure } from './choice';

interface DeploymentNeeds {
  blueprint: string | null;
  site: string | null;
  owner: string | null;
  secrets: Set<string>;
  plugins: Set<string>;
  deployments: Set<string>;
}
interface BlueprintNeeds {
  owner: string | null;
  blueprints: string[];
  secrets: Set<string>;
}
interface TenantNeeds {
  deployments: Map<string, DeploymentNeeds>;
  blueprints: Map<string, BlueprintNeeds>;
  providers: Map<string, string>;
}

/** What deployments refer to: gathered record by record, then asked for the closure of some. */
export class Needs {
  readonly #tenants = new Map<string, TenantNeeds>();

  see(record: ArchiveRecord): void {
    if (record.tenant === null) return;
    const tenant = this.#tenant(record.tenant);
    switch (record.type) {
      case 'secrets':
        if (record.item.provider_name !== null)
          tenant.providers.set(record.item.key, record.item.provider_name);
        break;
      case 'blueprints':
        tenant.blueprints.set(record.item.id, {
          owner: record.item.created_by,
          blueprints: textsOf(record.item.plan?.imported_blueprints),
          secrets: secretsIn(record.item.plan),
        });
        break;
      case 'deployments': {
        const { id, blueprint_id: blueprint, site_name: site, created_by: owner } = record.item;
        const { inputs, outputs, capabilities } = record.item;
        tenant.deployments.set(id, {
          blueprint,
          site,
          owner,
          secrets: secretsIn([inputs, outputs, capabilities]),
          plugins: new Set(),
          deployments: new Set(),
        });
        break;
      }
      case 'nodes': {
        const { deployment_id: id, plugins, properties, operations } = record.item;
        const of = tenant.deployments.get(id);
        if (!of) break;
        for (const name of packagesOf(plugins)) of.plugins.add(name);
        for (const name of secretsIn([properties, operations])) of.secrets.add(name);
        break;
      }
      case 'inter_deployment_dependencies': {
        const { source_deployment_id: source, target_deployment_id: target } = record.item;
        if (source !== null && target !== null) tenant.deployments.get(source)?.deployments.add(target);
        break;
      }
    }
  }

  /**
   * @param chosen `tenant/id` @param isDeep also what they depend on
   * @returns the closure; `unknown`: deployments (`tenant/id`) that were not seen
   */
  closureOf(
    chosen: readonly string[],
    isDeep: boolean,
  ): { closure: Closure; problems: string[]; unknown: string[] } {
    const problems: string[] = [];
    const unknown: string[] = [];
    const closure = new Map<string, MutableClosure>();
    const wanted = new Set(chosen);
    // A Set is iterated in the order of insertion, also over what is added on the way.
    for (const pair of wanted) {
      const at = pair.indexOf('/');
      const [name, id] = [pair.slice(0, at), pair.slice(at + 1)];
      const tenant = this.#tenants.get(name);
      const needs = tenant?.deployments.get(id);
      if (!tenant || !needs) {
        problems.push(`Deployment ${pair} is not in the archive`);
        unknown.push(pair);
        continue;
      }
      let of = closure.get(name);
      if (!of) closure.set(name, (of = emptyClosure()));
      of.deployments.add(id);
      takeNeeds(of, tenant, needs);
      for (const other of needs.deployments) {
        if (isDeep) wanted.add(`${name}/${other}`);
        else if (!wanted.has(`${name}/${other}`))
          problems.push(
            `Deployment ${pair} depends on ${name}/${other}: choose it too, or ask with dependencies`,
          );
      }
    }
    return { closure, problems, unknown };
  }

  #tenant(name: string): TenantNeeds {
    let tenant = this.#tenants.get(name);
    if (!tenant)
      this.#tenants.set(
        name,
        (tenant = { deployments: new Map(), blueprints: new Map(), providers: new Map() }),
      );
    return tenant;
  }
}

type MutableClosure = Record<
  'deployments' | 'blueprints' | 'sites' | 'secrets' | 'providers' | 'plugins' | 'owners',
  Set<string>
>;
const emptyClosure = (): MutableClosure => ({
  deployments: new Set(),
  blueprints: new Set(),
  sites: new Set(),
  secrets: new Set(),
  providers: new Set(),
  plugins: new Set(),
  owners: new Set(),
});

function takeNeeds(of: MutableClosure, tenant: TenantNeeds, needs: DeploymentNeeds): void {
  if (needs.site !== null) of.sites.add(needs.site);
  if (needs.owner !== null) of.owners.add(needs.owner);
  for (const name of needs.plugins) of.plugins.add(name);
  const secrets = new Set(needs.secrets);
  const blueprints = new Set(needs.blueprint === null ? [] : [needs.blueprint]);
  for (const id of blueprints) {
    of.blueprints.add(id);
    const blueprint = tenant.blueprints.get(id);
    if (!blueprint) continue;
    if (blueprint.owner !== null) of.owners.add(blueprint.owner);
    for (const other of blueprint.blueprints) blueprints.add(other);
    for (const key of blueprint.secrets) secrets.add(key);
  }
  for (const key of secrets) {
    of.secrets.add(key);
    const provider = tenant.providers.get(key);
    if (provider !== undefined) of.providers.add(provider);
  }
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

function packagesOf(plugins: unknown): string[] {
  if (!Array.isArray(plugins)) return [];
  return plugins.flatMap((plugin: unknown) => {
    const name = isMap(plugin) ? plugin.package_name : null;
    return typeof name === 'string' ? [name] : [];
  });
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keys of secrets that a value names by get_secret. A key that is computed when it is used is not found. Depth is bounded by the readers. */
function secretsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const one of value) secretsIn(one, found);
  else if (isMap(value))
    for (const [name, member] of Object.entries(value)) {
      if (name === 'get_secret') {
        const key = Array.isArray(member) ? member[0] : member;
        if (typeof key === 'string') found.add(key);
      }
      secretsIn(member, found);
    }
  return found;
}
