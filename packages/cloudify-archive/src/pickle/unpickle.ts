import { ArchiveRefused, type Place } from '../archive-refused';
import type { Note, Value } from '../value';
import { Machine } from './machine';
import { PickleFault } from './pickle-fault';
import { type ValueLimits, ValueMaker } from './to-value';

/**
 * Reads a pickle of Python as plain data. No class is loaded and no code is run: all that is not on the list of `classes.ts` is an
 * error that names the class.
 * @throws ArchiveRefused pickle, with the place
 */
export function unpickle(bytes: Buffer, place: Place, limits: ValueLimits): { value: Value; notes: Note[] } {
  try {
    const maker = new ValueMaker(limits);
    const value = maker.make(new Machine(bytes, limits.maxObjects).run());
    return { value, notes: maker.notes };
  } catch (error) {
    if (error instanceof PickleFault)
      throw new ArchiveRefused('pickle', `the pickle is refused: ${error.message}`, place);
    throw error;
  }
}
