import { AppError } from '@baton/kernel';

/** What the manager says that it is. Everything works in both; community adds the registration of who uses it. */
export type Edition = 'premium' | 'community';

/** @throws AppError community_only_error (404) */
export function requireCommunity(edition: Edition): void {
  if (edition !== 'community')
    throw new AppError('community_only_error', 'Only a manager of the community edition has this');
}
