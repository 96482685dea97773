/** Seals staged records of types that hold secrets: what waits for an apply is never in clear text in the database. */
export interface StageSealer {
  /** Types whose records are sealed. */
  types: readonly string[];
  /** `place`: import, type, tenant and batch; a sealed text opens only there. */
  seal(place: string, text: string): string;
  /** @throws Error when the text was changed, moved, or sealed under another key. */
  open(place: string, sealed: string): string;
}

/** Where records are staged. */
export interface StagePlace {
  importId: string;
  type: string;
  tenant: string;
  batch: number;
}

const nameOf = ({ importId, type, tenant, batch }: StagePlace): string =>
  JSON.stringify(['import', importId, type, tenant, batch]);

/** The text as it is stored. */
export const sealStaged = (sealer: StageSealer | undefined, place: StagePlace, text: string): string =>
  sealer?.types.includes(place.type) ? sealer.seal(nameOf(place), text) : text;

/** The text as it was given. @throws Error of the sealer */
export const openStaged = (sealer: StageSealer | undefined, place: StagePlace, stored: string): string =>
  sealer?.types.includes(place.type) ? sealer.open(nameOf(place), stored) : stored;
