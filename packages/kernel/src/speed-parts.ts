/**
 * Parts that only make a manager faster: without one of them it does the same by a simpler way. Each has to be worth its
 * code: `npm run bench -- parts` measures a manager without it, in turns (docs/speed-parts.md).
 */
export const SPEED_PARTS = [
  'call-streams',
  'packed-answers',
  'handed-over-messages',
  'claim-batches',
  'outbox-express',
] as const;

export type SpeedPart = (typeof SPEED_PARTS)[number];

const off = new Set<SpeedPart>();

/** For this whole process, at its start. */
export function switchOff(parts: Iterable<SpeedPart>): void {
  for (const part of parts) off.add(part);
}

export const isOn = (part: SpeedPart): boolean => !off.has(part);
