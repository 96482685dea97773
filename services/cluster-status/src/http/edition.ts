import { AppError } from '@baton/kernel';

/** Edition that the manager reports. Every function works in both editions; community adds the registration of its user. */
export type Edition = 'premium' | 'community';

/** @throws AppError community_only_error (404) */
export function requireCommunity(edition: Edition): void {
  if (edition !== 'community')
    throw new AppError('community_only_error', 'Only a manager of the community edition has this');
}
