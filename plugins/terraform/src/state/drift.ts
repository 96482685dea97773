import type { Difference } from '@baton/plugin-sdk';
import * as z from 'zod';
import { MASKED } from './read-state';

const CHANGE = z
  .object({
    address: z.string(),
    change: z
      .object({
        actions: z.array(z.string()),
        before: z.any(),
        after: z.any(),
        after_unknown: z.any(),
        before_sensitive: z.any(),
        after_sensitive: z.any(),
      })
      .partial({
        before: true,
        after: true,
        after_unknown: true,
        before_sensitive: true,
        after_sensitive: true,
      }),
  })
  .loose();

/** The document of `show -json` of a plan, as far as it is used. */
export const PLAN = z
  .object({
    format_version: z.string(),
    terraform_version: z.string().optional(),
    resource_changes: z.array(CHANGE).default([]),
    resource_drift: z.array(CHANGE).default([]),
    output_changes: z.record(z.string(), z.any()).default({}),
  })
  .loose();
export type Plan = z.output<typeof PLAN>;
export type Change = z.output<typeof CHANGE>;

/** Actions that leave a resource as it is. */
const isQuiet = ({ change: { actions } }: Change): boolean =>
  actions.every((action) => action === 'no-op' || action === 'read');

/** The changes that a plan would make. */
export const changesOf = (plan: Plan): Change[] => plan.resource_changes.filter((one) => !isQuiet(one));

/**
 * What differs between the module and the world: what the plan would change, and what has been changed outside.
 * `stored`: as the module or the last operation has it; `present`: as it is. Sensitive values are masked.
 */
export function differencesOf(plan: Plan): Difference[] {
  const planned = changesOf(plan).flatMap((one) => differences(one, 'after', 'before'));
  const known = new Set(planned.map(({ path }) => path));
  const outside = plan.resource_drift
    .filter((one) => !isQuiet(one))
    .flatMap((one) => differences(one, 'before', 'after'))
    .filter(({ path }) => !known.has(path));
  return [...planned, ...outside];
}

type Side = 'before' | 'after';

function differences({ address, change }: Change, stored: Side, present: Side): Difference[] {
  const [isThere, wasThere] = [isObject(change[present]), isObject(change[stored])];
  if (!isThere || !wasThere)
    return [{ path: address, stored: existence(wasThere), present: existence(isThere) }];
  const [a, b] = [change[stored] as Fields, change[present] as Fields];
  const names = [
    ...new Set([...Object.keys(a), ...Object.keys(b), ...unknownNames(change.after_unknown)]),
  ].sort();
  const found = names.flatMap((name): Difference[] => {
    const isUnknown = isMarked(change.after_unknown, name);
    if (!isUnknown && JSON.stringify(a[name] ?? null) === JSON.stringify(b[name] ?? null)) return [];
    const show = (side: Side, value: unknown) =>
      side === 'after' && isUnknown
        ? '(known after apply)'
        : isMarked(change[`${side}_sensitive`], name)
          ? MASKED
          : ((value ?? null) as Difference['stored']);
    return [{ path: `${address}.${name}`, stored: show(stored, a[name]), present: show(present, b[name]) }];
  });
  const action = change.actions.join(', ');
  return found.length > 0 ? found : [{ path: address, stored: action, present: 'no-op' }];
}

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const existence = (isThere: boolean): string => (isThere ? 'exists' : 'does not exist');
const unknownNames = (marks: unknown): string[] =>
  isObject(marks) ? Object.keys(marks).filter((name) => isMarked(marks, name)) : [];

/** Whether a part of a value is marked, as unknown or sensitive: by itself or by something in it. */
function isMarked(marks: unknown, name: string): boolean {
  if (marks === true) return true;
  return isObject(marks) && holdsTrue(marks[name]);
}
const holdsTrue = (mark: unknown): boolean =>
  mark === true || (isObject(mark) && Object.values(mark).some(holdsTrue));
