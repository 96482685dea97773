import type { ReactNode } from 'react';
import { t } from '../text/text';
import { Time } from './time';

interface Owned {
  created_at?: string | null;
  updated_at?: string | null;
  created_by: string;
  tenant_name: string;
}

/** Facts that all resources share: owner, times, and the tenant when it is not the current one. */
export const ownerFacts = (of: Owned, tenant: string): [name: string, value: ReactNode][] => [
  [t.resource.owner, of.created_by],
  [t.resource.created, of.created_at ? <Time key="created" at={of.created_at} /> : null],
  [t.resource.updated, of.updated_at ? <Time key="updated" at={of.updated_at} /> : null],
  [t.resource.tenant, of.tenant_name === tenant ? null : t.resource.ofOtherTenant(of.tenant_name)],
];
