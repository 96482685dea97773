/** The package as other people get it (`npm run pack`): without the contracts, whose types would bring zod. */
import { createClient as create, type OperationClient } from './client';
import type { ClientOptions } from './transport';

export { ApiError } from './api-error';
export type { Download, OperationClient as Client, UploadContent } from './client';
export type { EventOptions, ServerEvent } from './event-reader';
export type { AnswerOf, ItemOf, OperationArgs, OperationId, QueryOf } from './operations';
export type { Operations, Schemas } from './operations.gen';
export type { Query, QueryValue } from './request-parts';
export type { ClientOptions };

/** Creates a client of one manager, for one user. */
export const createClient: (options: ClientOptions) => OperationClient = create;
