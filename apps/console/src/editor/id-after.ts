import type { BlueprintDetail } from '../api/blueprints';
import { nextId } from '../blueprints/blueprint-id';

/** Returns the id for saving an opened blueprint: its own id when its upload had failed, else the next free id. */
export function idAfter(from: Pick<BlueprintDetail, 'id' | 'error'> | null): string {
  if (from === null) return '';
  return from.error === null ? nextId(from.id) : from.id;
}
