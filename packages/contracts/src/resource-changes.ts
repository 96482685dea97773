import { z } from 'zod';
import { hasPermission, isAdministrator, type Principal } from './principal';

/** Kinds of resources whose changes are reported, and the permission for their lists. */
export const changeKinds = {
  executions: 'execution_list',
  deployments: 'deployment_list',
  blueprints: 'blueprint_list',
  plugins: 'plugin_list',
} as const;
export type ChangeKind = keyof typeof changeKinds;

const kinds = Object.keys(changeKinds) as [ChangeKind, ...ChangeKind[]];

/** A created, changed or deleted resource. The visibility is included, so that no service needs to be asked. */
export const resourceChange = z.object({
  kind: z.enum(kinds),
  id: z.string(),
  operation: z.enum(['created', 'changed', 'deleted']),
  /** Both absent: the sender does not know them, and the owning service must be asked. */
  createdBy: z.string().optional(),
  visibility: z.enum(['private', 'tenant', 'global']).optional(),
});
export type ResourceChange = z.infer<typeof resourceChange>;

/** Payload of a message about changes; the message's tenant is that of the resources. */
export const resourceChanges = z.object({
  changes: z.array(resourceChange),
  /** Changes may have been lost: of the message's tenant, or of all tenants when it names none. */
  isIncomplete: z.boolean().optional(),
});
export type ResourceChanges = z.infer<typeof resourceChanges>;

/** Maximum number of changes in one message. */
export const MAX_CHANGES = 200;

/** Whether the caller may see a resource in the tenant of the request (like visibilityScope of packages/postgres for rows). */
export function isShownTo(
  principal: Principal,
  of: { tenant: string; createdBy: string; visibility: string },
): boolean {
  if (of.visibility === 'global') return true;
  if (of.tenant !== principal.tenant) return false;
  return of.visibility === 'tenant' || of.createdBy === principal.username || isAdministrator(principal);
}

/** Whether the caller may list resources of the kind. */
export const mayListKind = (principal: Principal, kind: ChangeKind): boolean =>
  hasPermission(principal, changeKinds[kind]);
