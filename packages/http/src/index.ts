export { Answer, answer, attachment, type FullAnswer, type HttpAnswer, type StreamEvent } from './answer';
export { bareListHeader } from './bare-list';
export { type BoundRoute, bindRoutes, type Handler, type HandlersOf, type HttpCall, type Wire } from './call';
export { badValue, checkValue, pathText } from './check-value';
export { errorBody, retryAfterOf, toAppError } from './error-body';
export { formatEvent } from './event-stream';
export { createExpress } from './express-app';
export { createHttpApp, type HttpApp } from './http-app';
export { createListener, type HttpListener, type ListenerOptions } from './http-listener';
export {
  booleanOf,
  compileList,
  listEnvelope,
  parseInclude,
  pickFields,
  type RawQuery,
  rawEnvelope,
} from './list-query';
export { openApiDocument } from './openapi';
export type { HttpAppOptions, ObservedRequest, PlainAnswer } from './options';
export { packedHeader, unpackPieces } from './packed-answer';
export {
  anonymous,
  principalHeader,
  signPrincipal,
  verifyPrincipal,
} from './principal-token';
export { addressRule, isNetwork, isPublicAddress } from './public-address';
export { hasBody, parseJson, readText } from './read-body';
export { createSafeFetch, type FetchLimits, type SafeFetch, type SafeFetchDeps } from './safe-fetch';
export { type ByteRange, contentTypeOf, type ServedFile, serveFile } from './serve-file';
