import { z } from 'zod';
import { defineMessage } from '../message';

/** Somebody has set a value of that scope: whoever works with one reads the scope anew. */
export const configChanged = defineMessage(
  'cluster-status.config-changed.v1',
  'fanout',
  z.object({ scope: z.string() }),
);
