import { notFound } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import { digestOfSecret, openScript } from '../../domain/agents/enrolment-secret';
import { findScript } from '../../store/agents/enrolments.sql';

/** Returns the script behind a download link while its token is good. @throws AppError not_found_error, with one text for every link */
export async function readInstallScript(
  db: AnyQuery,
  link: string,
): Promise<{ script: string; agentName: string }> {
  const digest = digestOfSecret(link);
  const found = digest && (await findScript(db, digest));
  // The link is a secret: it is not repeated.
  if (!found) throw notFound('InstallScript', 'of this link');
  return { script: openScript(link, digest, found.script), agentName: found.name };
}
