import { UsageFailure } from '../failure';
import type { Expected } from './expected';
import { ANSWERS, kindOf } from './kinds';

/** What of the other manager is to be found here, and in which tenants. */
export interface Selection {
  /** Old name -> name here; empty: all tenants, under their names. */
  tenants: ReadonlyMap<string, string>;
  /** `tenant/id` with the old name of the tenant; empty: everything. Else only these deployments, and what is below them. */
  deployments: readonly string[];
  /** Kinds that are left out. */
  without: readonly string[];
}

/** Reads `--tenant-map old=new`; `old` alone keeps its name. @throws UsageFailure for another form */
export function tenantMap(pairs: readonly string[]): Map<string, string> {
  return new Map(
    pairs.map((pair) => {
      const [old, here = old, more] = pair.split('=');
      if (!old || !here || more !== undefined)
        throw new UsageFailure(`--tenant-map ${pair}: expected OLD=NEW, such as sales=sales-eu`);
      return [old, here];
    }),
  );
}

/** Returns what is expected here, under the names of this manager; null for what is not to be compared. */
export function select(selection: Selection, one: Expected): Expected | null {
  const { tenants, deployments, without } = selection;
  if (without.includes(one.what)) return null;
  if (deployments.length > 0 && !isChosen(deployments, one)) return null;
  if (tenants.size === 0) return one;
  if (one.tenant === null) return ofManager(tenants, one);
  const here = tenants.get(one.tenant);
  if (here === undefined) return null;
  if (one.kind !== 'object') return { ...one, tenant: here };
  const { item } = one;
  return {
    ...one,
    tenant: here,
    item: 'tenant_name' in item ? { ...item, tenant_name: here } : item,
  };
}

/** Tenants and users under the names of this manager. */
function ofManager(tenants: ReadonlyMap<string, string>, one: Expected): Expected | null {
  if (one.kind !== 'object') return one;
  const { item } = one;
  if (one.what === 'tenants') {
    const here = tenants.get(one.id);
    return here === undefined ? null : { ...one, id: here, item: { ...item, name: here } };
  }
  if (typeof item.tenants !== 'object' || item.tenants === null || Array.isArray(item.tenants)) return one;
  const renamed = Object.entries(item.tenants).flatMap(([name, roles]) => {
    const here = tenants.get(name);
    return here === undefined ? [] : [[here, roles] as const];
  });
  return { ...one, item: { ...item, tenants: Object.fromEntries(renamed) } };
}

function isChosen(deployments: readonly string[], one: Expected): boolean {
  if (ANSWERS.some(({ what }) => what === one.what))
    return one.kind === 'answer' && deployments.includes(`${one.tenant}/${one.id}`);
  const field = kindOf(one.what)?.deploymentField;
  if (one.kind !== 'object' || field === undefined) return false;
  return deployments.includes(`${one.tenant}/${String(one.item[field])}`);
}
