/** State of the update screen kept in its address. Values of inputs are not part of it: they may be secret. */
import { choicesOf, flagOf, textOf } from '../search-params';

/** Flags of the API that are off by default. */
export const FLAGS = [
  'skip_install',
  'skip_uninstall',
  'skip_reinstall',
  'force_reinstall',
  'skip_drift_check',
  'skip_heal',
  'install_first',
  'ignore_failure',
  'force',
] as const;
export type Flag = (typeof FLAGS)[number];

export type UpdateSearch = { [F in Flag]?: true } & {
  blueprint_id?: string;
  /** Id of a preview. */
  preview_id?: string;
  /** Shows unchanged resources, too. */
  all?: true;
  update_plugins?: 'false';
};

export const readUpdateSearch = (search: Record<string, unknown>): UpdateSearch => ({
  ...Object.fromEntries(FLAGS.map((flag) => [flag, flagOf(search[flag])])),
  blueprint_id: textOf(search.blueprint_id),
  preview_id: textOf(search.preview_id),
  all: flagOf(search.all),
  update_plugins: choicesOf(textOf(search.update_plugins), ['false'] as const)?.[0],
});

/** Returns the flags for the body of a request. */
export const flagsOf = (search: UpdateSearch): Partial<Record<Flag | 'update_plugins', boolean>> => ({
  ...Object.fromEntries(FLAGS.filter((flag) => search[flag]).map((flag) => [flag, true])),
  ...(search.update_plugins === 'false' && { update_plugins: false }),
});
