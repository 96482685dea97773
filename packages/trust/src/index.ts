export {
  type Caller,
  type CallerCredential,
  type CallVerifier,
  certifiedAtMs,
  createCallVerifier,
  newWorkerKey,
  serviceCredential,
  signCertificate,
  type WorkerKey,
  workerTokens,
} from './caller';
export {
  derivedTrust,
  type IdentityOwner,
  identityOwners,
  isIdentityOwner,
  publicKeyAt,
  type ServiceIdentity,
  type SigningKey,
  type Trust,
  type TrustBundle,
} from './identity';
export { adoptKeys, handOutKeys, type KeyFiles, keyFilesIn, makeKeys, trustFromFiles } from './key-files';
export { createLeaseProofs, digestOfInputs, type HeldLease, type LeaseProofs } from './lease-proof';
export { derivedJoinToken, isSameSecret, type Mac } from './mac';
export { createSeals, type Seals, UnknownKey } from './seal';
export {
  type Claims,
  checkLife,
  endMsOf,
  LIFE_S,
  lifeFrom,
  openToken,
  REUSE_MARGIN_S,
  signToken,
  Untrusted,
} from './signed-token';
