import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ApiVersion, ListQuery, Principal } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import type { HttpCall } from './call';

/** One request; signal and log are created only when a handler uses them. */
export class RequestCall implements HttpCall {
  principal!: Principal;
  params!: Record<string, string>;
  query: unknown;
  list!: ListQuery;
  include: string[] | null = null;
  body: unknown = undefined;
  text = '';
  #signal: AbortSignal | undefined;
  #log: Log | undefined;

  constructor(
    readonly raw: IncomingMessage,
    readonly response: ServerResponse,
    readonly requestId: string,
    readonly version: ApiVersion,
    readonly hasBody: boolean,
    private readonly serviceLog: Log,
  ) {}

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }
  get contentType(): string {
    return this.raw.headers['content-type'] ?? '';
  }
  get idempotencyKey(): string | null {
    const value = this.raw.headers['idempotency-key'];
    return typeof value === 'string' && value !== '' ? value : null;
  }
  get signal(): AbortSignal {
    if (!this.#signal) {
      const controller = new AbortController();
      const { response } = this;
      if (response.destroyed && !response.writableFinished) controller.abort();
      response.once('close', () => {
        if (!response.writableFinished) controller.abort();
      });
      this.#signal = controller.signal;
    }
    return this.#signal;
  }
  get log(): Log {
    this.#log ??= this.serviceLog.child({ requestId: this.requestId });
    return this.#log;
  }
}
