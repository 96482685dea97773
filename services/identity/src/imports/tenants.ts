import { type Fate, type Importer, lost, metFate, takeValid } from '@baton/import-part';
import type { TenantParts } from '../adapters/tenant-parts';
import { tenantHere } from './chosen-tenants';
import { noteMade } from './made-here';
import { type TenantRecord, tenantRecord } from './records';

/** Path segments below /tenants that are no names of tenants. */
const RESERVED = ['users', 'user-groups'];

/** Makes the chosen tenants that are missing here. A tenant has no content of its own, so one that is here is the same. */
export function tenantsImporter(deps: { tenantParts: TenantParts }): Importer {
  return {
    type: 'tenants',
    take: (context, records) =>
      takeValid(records, tenantRecord, 'name', async (valid) => {
        const fates: Fate[] = [];
        for (const { name } of valid) {
          const target = tenantHere(context, name);
          fates.push(target === null ? notChosen(name) : await takeTenant(deps, context, name, target));
        }
        return fates;
      }),
  };
}

const notChosen = (name: TenantRecord['name']): Fate => ({
  id: name,
  fate: 'skipped',
  code: 'not_chosen',
  text: 'the options do not name this tenant',
});

async function takeTenant(
  { tenantParts }: { tenantParts: TenantParts },
  context: Parameters<Importer['take']>[0],
  name: string,
  target: string,
): Promise<Fate> {
  const valid = tenantRecord.safeParse({ name: target });
  if (!valid.success || RESERVED.includes(target))
    return lost(
      name,
      'name_not_allowed',
      'no tenant may have this name; give it another one with the option tenants',
    );
  const { client, isRehearsal } = context;
  const found = await client.query<{ closing: boolean }>(
    `select closing_since is not null as closing from tenants where name = $1 ${isRehearsal ? '' : 'for no key update'}`,
    [target],
  );
  if (found.rows[0]?.closing) return lost(name, 'tenant_closing', `tenant ${target} is being deleted`);
  if (found.rows[0]) return metFate(context, { id: name, met: target, isSame: true, what: 'the tenant' });
  const former = await client.query('delete from former_tenants where name = $1', [target]);
  // Open again in the other services before it is here: after a crash in between nobody can use it, and the repeat continues.
  if (former.rowCount === 1 && !isRehearsal) await tenantParts.open(target, true);
  await client.query('insert into tenants (name) values ($1)', [target]);
  await noteMade(client, 'tenant', [target]);
  const isRenamed = target !== name;
  return {
    id: name,
    fate: 'imported',
    ...(isRenamed ? { code: 'renamed', text: `it is tenant ${target} here` } : {}),
  };
}
