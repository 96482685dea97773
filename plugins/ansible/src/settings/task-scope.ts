import type { BaseScope } from '@baton/plugin-sdk';

/** What the tasks of the plugin get: operations of types, of relationships, and by mapping on any node. */
export type TaskScope = BaseScope & { readonly inputs: Readonly<Record<string, unknown>> };
