import { type NodeScope, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { CLIENT_CONFIG, placeOf } from '../engine/client-config';
import { withEngine } from '../engine/engine';

const PROPERTIES = z.object({ client_config: CLIENT_CONFIG.nullish().describe('Where the engine is') });
type ListScope = NodeScope<typeof PROPERTIES, z.ZodObject<Record<never, never>>>;

/** A type whose `create` stores what the engine answers. The original's misspelt name of a runtime property stays. */
const listOf = (
  path: string,
  query: Record<string, boolean>,
  mapping: string,
  names: readonly string[],
  description: string,
) =>
  nodeType({
    description,
    properties: PROPERTIES,
    mappings: { create: `docker.cloudify_docker.tasks.${mapping}` },
    async create(scope: ListScope) {
      const { client_config: config } = scope.properties;
      scope.hide([config?.ssh?.key, config?.ssh?.password, config?.tls?.key]);
      const answer = await withEngine(placeOf(config), scope, (engine) =>
        engine.call('GET', path, { query }),
      );
      for (const name of names) (scope.runtime as Record<string, unknown>)[name] = answer.json();
    },
    resumable: ['create'],
  });

export const images = listOf(
  '/images/json',
  { all: true },
  'list_images',
  ['images'],
  'The images of a Docker engine',
);
export const containers = listOf(
  '/containers/json',
  { all: true },
  'list_containers',
  ['contianers', 'containers'],
  'The containers of a Docker engine',
);
export const hostDetails = listOf(
  '/info',
  {},
  'list_host_details',
  ['host_details'],
  'Facts of a Docker engine',
);
