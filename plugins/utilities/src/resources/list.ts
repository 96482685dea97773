import { FatalError, nodeType, type RelationshipType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { giveBack, newReservationId, reserve } from './reservations';
import { reserveShared, returnShared, SHARED_RESOURCE } from './shared-list';

const RESERVATION = z.object({
  reservation_id: z.string().default('').describe('Name of the reservation. Empty: a new one'),
});
const TASKS = 'resources.cloudify_resources.tasks';

/** Items of which each may be reserved by one other node at a time. */
export const resourceList = nodeType({
  description: 'Items of which each may be reserved by one other node at a time',
  properties: z.object({ resource_config: z.any().default([]).describe('The items, as a list') }),
  runtime: z.object({
    resource_config: z.array(z.unknown()),
    free_resources: z.array(z.unknown()),
    reservations: z.record(z.string(), z.unknown()),
  }),
  create({ properties, runtime }) {
    const items: unknown = properties.resource_config;
    if (!Array.isArray(items)) throw new FatalError('The "resource_config" property must be of type: list');
    Object.assign(runtime, { resource_config: items, free_resources: [...items], reservations: {} });
  },
  delete({ runtime }) {
    Object.assign(runtime, { resource_config: [], free_resources: [], reservations: {} });
  },
  operations: {
    reserve: {
      interface: 'cloudify.interfaces.operations',
      inputs: RESERVATION,
      async run({ ctx, inputs, log, step }) {
        // The name is stored first: an attempt after the loss of a worker finds its own reservation.
        const id = inputs.reservation_id || (await step('name', async () => newReservationId()));
        await reserve(await ctx.instance(), id, ctx.isResumed);
        log.info(`An item is reserved for ${id}`);
        return id;
      },
    },
    return: {
      interface: 'cloudify.interfaces.operations',
      inputs: RESERVATION,
      async run({ ctx, inputs, log }) {
        const item = await giveBack(await ctx.instance(), inputs.reservation_id);
        log.info(item === null ? 'Nothing to do.' : `The item of ${inputs.reservation_id} is free again`);
      },
    },
  },
  mappings: {
    create: `${TASKS}.create_list`,
    delete: `${TASKS}.delete_list`,
    reserve: `${TASKS}.reserve_list_item`,
    return: `${TASKS}.return_list_item`,
  },
  resumable: ['create', 'delete', 'reserve', 'return'],
});

/** A node that holds an item of a list: runtime property reservation. */
export const listItem = nodeType({
  description: 'A node that holds an item of a list',
  runtime: z.object({ reservation: z.unknown() }),
  create({ runtime }) {
    runtime.reservation = '';
  },
  delete({ runtime }) {
    runtime.reservation = '';
  },
  mappings: { create: `${TASKS}.create_list_item`, delete: `${TASKS}.delete_list_item` },
  resumable: ['create', 'delete'],
});

/** Reserves an item of the target for the source, until they are unlinked. */
export const reserveListItem: RelationshipType = {
  derivedFrom: 'cloudify.relationships.connected_to',
  aliases: [],
  inputs: {
    target: {
      preconfigure: z.object({
        resources_list_node_id: z
          .string()
          .default('')
          .describe('Node with the list, when the target is a shared resource. Empty: the first list there'),
      }),
    },
  },
  target: {
    async preconfigure(scope) {
      const { ctx, log, inputs } = scope;
      const [source, target] = [await ctx.source(), await ctx.target()];
      const { instance } = source;
      const item =
        target.node.type === SHARED_RESOURCE
          ? await reserveShared(scope, String(inputs.resources_list_node_id ?? ''))
          : await reserve(target.instance, instance.id, true);
      instance.runtimeProperties.reservation = item;
      await instance.update();
      log.info(`${instance.id} has an item of ${target.node.id}`);
    },
    async unlink(scope) {
      const { ctx, log } = scope;
      const [source, target] = [await ctx.source(), await ctx.target()];
      const { instance } = source;
      if (target.node.type === SHARED_RESOURCE) await returnShared(scope);
      else if ((await giveBack(target.instance, instance.id)) === null) log.debug('Nothing to do.');
      instance.runtimeProperties.reservation = '';
    },
  },
  mappings: {
    target: { preconfigure: `${TASKS}.reserve_list_item`, unlink: `${TASKS}.return_list_item` },
  },
  resumable: ['target.preconfigure', 'target.unlink'],
};
