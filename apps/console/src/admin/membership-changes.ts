/** The possible changes of memberships, each with its texts. */
import type { Client } from '@baton/client';
import type { PeopleKind } from '../api/people';
import type { Membership } from './memberships';

/** Sends one membership change to the manager. `role` is empty when members have no roles. */
type Ask = (client: Client, tenant: string, name: string, role: string) => Promise<unknown>;

/** The possible changes of one kind of membership. */
export interface MembershipChanges {
  /** The kind of names that are suggested during typing. */
  kind: PeopleKind;
  add: { permission: string; ask: Ask };
  /** Absent: members have no roles. */
  change?: { permission: string; ask: Ask };
  remove: { permission: string; ask: Ask };
}

export interface PanelWords {
  title: string;
  /** Heading of the column of names. */
  column: string;
  add: string;
  empty: string;
  removeText: (name: string) => string;
}

export type MembershipQuestion = { do: 'add' } | { do: 'change' | 'remove'; row: Membership };
