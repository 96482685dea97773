import type { BaseScope } from '@baton/plugin-sdk';

/** The parts of an operation that calls need. */
export type RestScope = Pick<BaseScope, 'ctx' | 'log' | 'http' | 'render' | 'step' | 'hide' | 'signal'>;
