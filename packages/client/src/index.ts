export { ApiError } from './api-error';
export { type Client, createClient, type Download, type UploadContent } from './client';
export type { EventOptions, ServerEvent } from './event-reader';
export type { AnswerOf, ItemOf, OperationArgs, OperationId, QueryOf } from './operations';
export type { Operations, Schemas } from './operations.gen';
export type { ArgsTuple, CallArgs, Query, QueryValue, ResponseOf } from './request-parts';
export type { ClientOptions } from './transport';
