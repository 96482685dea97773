import { badParameter } from '@baton/kernel';
import { noCredentials, unauthorized } from '../../domain/login-refusals';
import type { WirePolicy } from '../wire-policy';

/** The wire of the original (docs/compatibility.md). */
export const cloudifyWire: WirePolicy = {
  // The texts of the original, of which one tells that a user exists.
  refusals: {
    unknown: noCredentials,
    rejected: (username) =>
      unauthorized(`Authentication failed for user ${username}. Wrong credentials or locked account`),
    inactive: noCredentials,
  },
  // The original names a user that it does not know a bad parameter, where the spec says nothing.
  unknownUser: (notFound) => badParameter('username', notFound.message),
  monitorsByAnyCredential: false,
};
