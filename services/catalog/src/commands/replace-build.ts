/** Versions of plugins are published once; builds of an author at work replace each other (docs/plugins-dev.md). */
import type { Principal, Visibility } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { PluginPackage } from '../domain/plugin-package';
import { noteLooseBlobs } from '../store/archives.sql';
import { deletePlugin, type RivalPlugin } from '../store/plugins.sql';
import type { DB } from '../store/tables.gen';

/** Ending of the versions that may be replaced. No release has it, so no release is ever replaced. */
const ENDING = '-dev';

/** A version is published once: blueprints and deployments rely on its content. */
export function alreadyThere({ package_name, archive_name }: PluginPackage, isSame: boolean): AppError {
  const what = isSame ? 'with the same content' : 'with other content; a new release needs a new version';
  return new AppError(
    'conflict_error',
    `a plugin archive \`${archive_name}\` of package \`${package_name}\` already exists, ${what}`,
    { package_name, archive_name, is_same_content: isSame },
  );
}

/** @throws AppError forbidden_error, bad_parameters_error when this is no build of an author at work */
export function requireDevelopment(
  { takesDevelopment }: { takesDevelopment: boolean },
  { package_version, archive_name }: PluginPackage,
  visibility: Visibility,
): void {
  const refuse = (why: string, expected: string): never => {
    throw new AppError('bad_parameters_error', why, { field: 'development', expected });
  };
  if (!takesDevelopment)
    throw new AppError(
      'forbidden_error',
      'this manager takes no builds of plugins under development (BATON_PLUGINS_DEV of the catalog)',
      { field: 'development' },
    );
  if (!archive_name.endsWith('.bplug') || !package_version?.endsWith(ENDING))
    refuse(
      `\`${archive_name}\` is a release: only versions with the ending ${ENDING} are replaced`,
      `1.2.0${ENDING}`,
    );
  if (visibility === 'global')
    refuse('a plugin under development is for its tenant only', 'visibility private or tenant');
}

/**
 * Removes the last build, in the transaction that adds the new one. Deployments go on with the new one: they name the version. It gets
 * another id, so a worker that reads the last one just now finds nothing instead of other bytes, and tries again.
 * @throws AppError illegal_action_error for a build of somebody else, or one that other tenants use
 */
export async function replaceBuild(
  tx: Tx<DB>,
  principal: Principal,
  rival: RivalPlugin,
  { archive_name }: PluginPackage,
): Promise<void> {
  const isOwn = rival.tenant === principal.tenant && rival.created_by === principal.username;
  if (!isOwn || rival.visibility === 'global')
    throw new AppError(
      'illegal_action_error',
      `\`${archive_name}\` is ${isOwn ? 'global: other tenants use it' : `the build of ${rival.created_by}`}; it is not replaced`,
      { archive_name },
    );
  await noteLooseBlobs(tx, [rival.wagon_digest]);
  await deletePlugin(tx, rival.id);
}
