import { randomBytes } from 'node:crypto';
import { FatalError, type InstanceContext } from '@baton/plugin-sdk';
import { type Dict, dictOf, type Json } from '../json';

/** Runtime properties of a list: all items, those that nobody has, and the items by the one who has them. */
const FREE = 'free_resources';
const RESERVATIONS = 'reservations';

type Change = (free: Json[], reservations: Dict) => Json;

/**
 * Changes a list and stores it at once. Others change the same list at the same time: the change is made on what is stored, again when
 * another one was first.
 */
async function change(list: InstanceContext, make: Change): Promise<Json> {
  let result: Json = null;
  const changed = (present: Dict): Dict => {
    const free = Array.isArray(present[FREE]) ? [...present[FREE]] : [];
    const reservations = { ...dictOf(present[RESERVATIONS]) };
    result = make(free, reservations);
    return { ...present, [FREE]: free, [RESERVATIONS]: reservations };
  };
  await list.refresh(true);
  list.runtimeProperties = changed(list.runtimeProperties as Dict);
  await list.update((_, latest) => changed(latest as Dict));
  return result;
}

/**
 * Takes the first free item for `owner`. One who has an item already keeps it when `isOwn` says that this is an attempt of the same
 * operation, or an end of a relationship.
 * @throws FatalError when no item is free, and when another one has reserved by this name
 */
export const reserve = (list: InstanceContext, owner: string, isOwn: boolean): Promise<Json> =>
  change(list, (free, reservations) => {
    if (Object.hasOwn(reservations, owner)) {
      if (isOwn) return reservations[owner]!;
      throw new FatalError(`the reservation_id ${owner} is taken already`);
    }
    const item = free.shift();
    if (item === undefined) throw new FatalError('no item of the list is free');
    reservations[owner] = item;
    return item;
  });

/** Gives the item of `owner` back, and returns it; null: there is none. */
export const giveBack = (list: InstanceContext, owner: string): Promise<Json> =>
  change(list, (free, reservations) => {
    if (!Object.hasOwn(reservations, owner)) return null;
    const item = reservations[owner]!;
    delete reservations[owner];
    free.push(item);
    return item;
  });

/** A name for a reservation that the caller does not name. */
export const newReservationId = (): string => randomBytes(6).toString('hex');
