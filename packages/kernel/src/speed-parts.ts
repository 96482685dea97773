/**
 * Parts that only make a manager faster: without such a part it does the same in a simpler way. Each part must be worth
 * its code: `npm run bench -- parts` compares a manager with and without it in turns (docs/speed-parts.md).
 */
export const SPEED_PARTS = [
  'call-streams',
  'packed-answers',
  'handed-over-messages',
  'claim-batches',
] as const;

export type SpeedPart = (typeof SPEED_PARTS)[number];

const off = new Set<SpeedPart>();

/** Switches parts off for this whole process, at its start. */
export function switchOff(parts: Iterable<SpeedPart>): void {
  for (const part of parts) off.add(part);
}

export const isOn = (part: SpeedPart): boolean => !off.has(part);
