/** What an administrator decides for an import (reference/cloudify-snapshots.md 7). */
import { z } from 'zod';

const name = z.string().min(1).max(256);
/** `tenant/id` of an object. */
export const pair = z.string().regex(/^[^/]+\/[^/]+$/, 'must be tenant/id');

export const importOptions = z.object({
  /** Tenants of the archive by name -> tenant here (made when it is missing); null: not imported. Absent: all, under their names. */
  tenants: z.record(name, name.nullable()).optional(),
  /** Only these deployments (`tenant/id`), with what they need. */
  deployments: z.array(pair).max(1000).optional(),
  /** Also take the deployments that the chosen ones depend on; else they are refused with a list. */
  with_dependencies: z.boolean().default(false),
  /** create: users that are missing here are made. map: only users who are here already own things. ignore: everything belongs to the caller. */
  users: z.enum(['create', 'map', 'ignore']).default('create'),
  /** Roles of the archive by name (legacy: by number) -> role here, where their permissions do not say which they are. */
  roles: z.record(name, name).default({}),
  /** keep: where the archive has the salt of its hashes. reset: imported users have no password until one is set. */
  passwords: z.enum(['keep', 'reset']).default('keep'),
  events: z.enum(['all', 'none', 'since']).default('all'),
  /** ISO instant, with `events: since`. */
  events_since: z.string().max(64).optional(),
  schedules: z.enum(['disabled', 'as_was']).default('disabled'),
  /** What plans of blueprints come from: a new parse, the archive's stored plan, or both with a comparison. */
  blueprints: z.enum(['reparse', 'stored', 'both']).default('both'),
  /** Objects that are here already with other content. */
  on_conflict: z.enum(['fail', 'skip', 'replace']).default('fail'),
});
export type ImportOptions = z.infer<typeof importOptions>;
