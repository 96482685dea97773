import { z } from 'zod';
import { defineMessage } from '../message';

/** A blueprint was uploaded and parsed. */
export const blueprintRegistered = defineMessage(
  'catalog.blueprint-registered.v1',
  'fanout',
  z.object({ blueprintId: z.string(), digest: z.string() }),
);
