export { answer, type FullAnswer, type HttpAnswer, type StreamEvent } from './answer';
export { bareListHeader } from './bare-list';
export { type BoundRoute, bindRoutes, type Handler, type HandlersOf, type HttpCall } from './call';
export { checkValue } from './check-value';
export { namesTag } from './entity-tag';
export { errorBody, retryAfterOf, toAppError } from './error-body';
export { createExpress } from './express-app';
export { whyUnreached } from './fetch-failure';
export { createHandedServer, type HandedServer } from './handed-server';
export { createHttpApp, type HttpApp } from './http-app';
export { createListener, type HttpListener, type ListenerOptions } from './http-listener';
export {
  addressHeader,
  addressOf,
  cameOverHttps,
  httpsHeader,
  originHeader,
  originOf,
} from './https-header';
export {
  booleanOf,
  listEnvelope,
  pickFields,
  type RawQuery,
  rawEnvelope,
} from './list-query';
export { openApiDocument } from './openapi';
export type { HttpAppOptions, ObservedRequest, PlainAnswer } from './options';
export { packedHeader, unpackPieces } from './packed-answer';
export { type AddressRules, bareHost, pinnedAddress } from './pinned-address';
export { checkWrittenAddress, pinnedRequest, type SafeFetchDeps } from './pinned-request';
export {
  principalHeader,
  signPrincipal,
  verifyPrincipal,
} from './principal-token';
export { addressRule, isNetwork } from './public-address';
export { parseJson } from './read-body';
export { createSafeFetch, type FetchLimits, type SafeFetch } from './safe-fetch';
export { createSafePost, type PostAnswer, type SafePost } from './safe-post';
export { type ByteRange, type ServedFile, serveFile } from './serve-file';
export type { SideDoor } from './side-door';
export { chooseWire, type Wire } from './wire';
