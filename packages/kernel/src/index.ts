export { answerWithin } from './answer-within';
export { AppError, badParameter, type ErrorDetails, isAppError, notFound, nullIfNotFound } from './app-error';
export { type BackoffPolicy, backoffMs } from './backoff';
export { beginningOf } from './beginning-of';
export { canonicalJson } from './canonical-json';
export { afterDelay, type Clock, isoInstant, systemClock, waitUntil } from './clock';
export { diskFailure } from './disk-failure';
export { parseDurationMs } from './duration';
export { type ErrorCode, type ErrorEntry, errorTable } from './error-table';
export { createFloodLog, type FloodLog } from './flood-log';
export {
  FOLDED_FORMAT,
  FOLDED_PREFIX,
  type FoldedJson,
  foldJson,
  isFoldedJson,
  readFoldedJson,
  unfoldedJson,
} from './folded-json';
export {
  idTimeMs,
  isUuid,
  newId,
  randomSuffix,
} from './ids';
export { isStorableInstant, parseInstant, readInstant } from './instant';
export { isJsonObject, type Json, type JsonObject } from './json';
export { type Log, silentLog } from './log';
export { defineMachine, type Machine, type MachineTable } from './machine';
export { nearestName } from './nearest';
export { inPieces, jsonListInPieces, PIECE, type Pieces, whole } from './pieces';
export { jsonParts, jsonText, RawJson } from './raw-json';
export { err, ok, type Result } from './result';
export { Secret } from './secret';
export { isOn, SPEED_PARTS, type SpeedPart, switchOff } from './speed-parts';
export { storableJson } from './storable-json';
export { defineFormat, requireFormat, type StoredFormat } from './stored-format';
