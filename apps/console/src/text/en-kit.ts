/** Texts of what many screens share: lists, forms, questions. */
import { count } from './en-words';

export const kitTexts = {
  list: {
    filters: 'Search and filters',
    noMatch: 'Nothing matches',
    noMatchHint: (filters: string) => `The filters are: ${filters}.`,
  },

  visibility: {
    label: 'Who sees it',
    names: { private: 'Only its owner', tenant: 'The tenant', global: 'All tenants' },
    hints: {
      private: 'Its owner and administrators. It can be opened to more people later.',
      tenant: 'Everybody in this tenant. It cannot be closed again later.',
      global: 'Everybody in all tenants. It cannot be closed again later.',
    },
  },

  resource: {
    created: 'Created',
    updated: 'Changed',
    owner: 'Owner',
    by: 'by',
    tenant: 'Tenant',
    ofOtherTenant: (tenant: string) => `It belongs to the tenant ${tenant}, and is changed only there.`,
    edit: 'Edit',
    delete: 'Delete',
    editNamed: (name: string) => `Edit ${name}`,
    deleteNamed: (name: string) => `Delete ${name}`,
    save: 'Save',
    uses: 'Used by',
    more: (n: number) => `and ${count.format(n)} more`,
  },

  copy: {
    copy: 'Copy',
    copied: 'Copied',
    named: (name: string) => `Copy: ${name}`,
    once: 'Copy it now: it is shown only this once.',
    done: 'I have copied it',
  },

  pairs: {
    part: (name: string, n: number) => `${name} ${count.format(n)}`,
    remove: (name: string, n: number) => `Remove: ${name} ${count.format(n)}`,
    missing: 'The first part is missing.',
    twice: 'This stands here twice.',
  },

  confirm: {
    type: 'Type this to confirm:',
  },
};
