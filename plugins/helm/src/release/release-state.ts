import * as z from 'zod';
import type { Helm } from '../program/helm';

const STATUS = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  version: z.number(),
  manifest: z.string().optional(),
  info: z.looseObject({
    status: z.string(),
    first_deployed: z.string().optional(),
    last_deployed: z.string().optional(),
    description: z.string().optional(),
    notes: z.string().optional(),
  }),
});

/** A release as helm stores it. */
export type ReleaseState = z.output<typeof STATUS>;

/** Null: there is no such release. */
export async function readRelease(helm: Helm, name: string, namespace: string): Promise<ReleaseState | null> {
  const answer = await helm.json(['status', name, `--namespace=${namespace}`]);
  return answer === null ? null : STATUS.parse(answer);
}

export const isPending = ({ info }: ReleaseState): boolean => info.status.startsWith('pending-');

/** For runtime properties: without values and manifests, which hold secrets. */
export function shownRelease(state: unknown): Record<string, unknown> {
  const { name, namespace, version, info } = STATUS.parse(state);
  const { status, first_deployed, last_deployed, description, notes } = info;
  return { name, namespace, version, info: { status, first_deployed, last_deployed, description, notes } };
}
