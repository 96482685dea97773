import type {
  AnswerOf,
  ArgsTuple,
  Client,
  Download,
  ItemOf,
  OperationArgs,
  OperationId,
} from '@baton/client';

type UploadArgs<Id extends OperationId> = Omit<Parameters<Client['upload']>[1], 'params' | 'query'> &
  Pick<OperationArgs<Id>, 'params' | 'query'>;
type EventArgs = Parameters<Client['events']>;

/** A client that has only the operations which a command declares; the compiler refuses others. */
export interface ClientOf<Uses extends OperationId> {
  call<const Id extends Uses>(operation: Id, ...args: ArgsTuple<OperationArgs<Id>>): Promise<AnswerOf<Id>>;
  upload<const Id extends Uses>(operation: Id, args: UploadArgs<Id>): Promise<AnswerOf<Id>>;
  download<const Id extends Uses>(operation: Id, ...args: ArgsTuple<OperationArgs<Id>>): Promise<Download>;
  all<const Id extends Uses>(
    operation: Id,
    ...args: ArgsTuple<OperationArgs<Id> & { pageSize?: number }>
  ): AsyncGenerator<ItemOf<Id>>;
  events(operation: Uses, query: EventArgs[1], options?: EventArgs[2]): ReturnType<Client['events']>;
}

/**
 * Wraps `client` so that a call of an operation which the command does not declare fails: the list of operations in the
 * documentation is then true, also where code is typed loosely.
 */
export function declaredClient<Uses extends OperationId>(
  client: Client,
  command: string,
  uses: readonly Uses[],
): ClientOf<Uses> {
  const guarded =
    (method: keyof Client) =>
    (operation: OperationId, ...args: unknown[]) => {
      if (!(uses as readonly OperationId[]).includes(operation))
        throw new TypeError(`baton ${command} calls ${operation}, which it does not declare`);
      return (client[method] as (...all: unknown[]) => unknown)(operation, ...args);
    };
  return {
    call: guarded('call'),
    upload: guarded('upload'),
    download: guarded('download'),
    all: guarded('all'),
    events: guarded('events'),
  } as unknown as ClientOf<Uses>;
}

/** The same client for the code of the table layer, which gets operations as values. */
export interface LooseClient {
  call(operation: OperationId, args?: object): Promise<unknown>;
  all(operation: OperationId, args?: object): AsyncGenerator<unknown>;
}
