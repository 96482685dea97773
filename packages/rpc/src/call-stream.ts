/**
 * Unary calls over one gRPC stream (proto/rpc/v1). A call takes a third of the time and a quarter of the CPU of a separate gRPC
 * call (round trip 0.07 ms against 0.21, 0.06 ms of CPU against 0.24, both ends on one machine).
 */
import { callStreamRpc } from '@baton/contracts';
import { type Log, systemClock } from '@baton/kernel';
import {
  type Client,
  type ClientDuplexStream,
  type handleBidiStreamingCall,
  type Metadata,
  type ServerDuplexStream,
  type ServiceError,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import {
  type Answered,
  type AnsweringEnd,
  type Ask,
  type Asked,
  type AskingEnd,
  answerCalls,
  createAsker,
} from './calls';
import { bufferOf, methodPath, type ServedCall } from './definition';
import { errorFrom } from './error-mapping';
import { tokenOf } from './shown';

const definition = callStreamRpc.CallStreamServiceDefinition;
type OpenRequest = callStreamRpc.OpenRequest;
type OpenResponse = callStreamRpc.OpenResponse;

/** Call number of messages about the stream itself. */
const NO_CALL = 0;
/** Larger requests are sent as separate gRPC calls: on the stream, the calls behind them would wait. */
export const MAX_STREAMED_BYTES = 1024 * 1024;

const OPEN_PATH = methodPath(definition, definition.methods.open);
const noBytes = Buffer.alloc(0);
const noRequest: OpenRequest = {
  call: NO_CALL,
  path: '',
  body: noBytes,
  deadlineMs: 0,
  traceparent: '',
  isGivenUp: false,
  callerToken: '',
  lease: '',
};
const noResponse: OpenResponse = {
  call: NO_CALL,
  body: noBytes,
  errorCode: '',
  errorMessage: '',
  errorDetailsJson: '',
  isLeaving: false,
};

const requestBytes = (message: OpenRequest): Buffer =>
  bufferOf(callStreamRpc.OpenRequest.encode(message).finish());
const requestOf = (bytes: Buffer): OpenRequest => callStreamRpc.OpenRequest.decode(bytes);
const responseBytes = (message: OpenResponse): Buffer =>
  bufferOf(callStreamRpc.OpenResponse.encode(message).finish());
const responseOf = (bytes: Buffer): OpenResponse => callStreamRpc.OpenResponse.decode(bytes);

export const callStreamService = definition.fullName;
/** For `Server.addService`. */
export const callStreamDefinition = {
  open: {
    path: OPEN_PATH,
    requestStream: true,
    responseStream: true,
    requestSerialize: requestBytes,
    requestDeserialize: requestOf,
    responseSerialize: responseBytes,
    responseDeserialize: responseOf,
  },
} as const;

/** The calling side of one service. */
export interface CallStream {
  /** Null while calls are sent as separate gRPC calls. */
  readonly ask: Ask<Uint8Array> | null;
  /** Opens the stream, unless it is open or an attempt was made a moment ago; never waits. */
  open(): void;
  close(): void;
}

/** Pauses between two attempts to open a stream: after a loss, and for a service of a release without call streams. */
const REOPEN_MS = { lost: 1_000, unknown: 60_000 };

type OpenedStream = ClientDuplexStream<OpenRequest, OpenResponse>;

/** `metadata`: headers with the caller's token; `token`: the caller's current token, sent again when it changes. */
export function createCallStream(
  client: Client,
  metadata: () => Metadata,
  token: () => string,
  log: Log,
): CallStream {
  let stream: OpenedStream | null = null;
  let ask: Ask<Uint8Array> | null = null;
  let openAfter = Number.NEGATIVE_INFINITY;
  return {
    get ask() {
      return ask;
    },
    open() {
      if (stream || systemClock.monotonic() < openAfter) return;
      openAfter = systemClock.monotonic() + REOPEN_MS.lost;
      const shown = token();
      const opened = client.makeBidiStreamRequest(OPEN_PATH, requestBytes, responseOf, metadata());
      stream = opened;
      const asker = createAsker(askingEnd(opened, shown, token), 0);
      opened.on('data', ({ call, isLeaving }: OpenResponse) => {
        if (call !== NO_CALL || stream !== opened) return;
        ask = isLeaving ? null : asker;
        // Answers to calls under way still come; no new calls are sent.
        if (isLeaving) opened.end();
        else log.debug({}, 'calls share a stream');
      });
      opened.on('error', ({ code }: ServiceError) => {
        if (code === status.UNIMPLEMENTED) openAfter = systemClock.monotonic() + REOPEN_MS.unknown;
      });
      opened.on('status', () => {
        if (stream !== opened) return;
        stream = null;
        ask = null;
      });
    },
    close() {
      openAfter = Number.POSITIVE_INFINITY;
      stream?.cancel();
    },
  };
}

function askingEnd(stream: OpenedStream, first: string, token: () => string): AskingEnd<Uint8Array> {
  let shown = first;
  /** Returns the token of a call if it is not that of the last one, else nothing: the other end remembers it. */
  const news = (now = token()): string => {
    if (now === shown) return '';
    shown = now;
    return now;
  };
  return {
    isOpen: () => stream.writable,
    send: (message) =>
      void stream.write({
        ...noRequest,
        ...message,
        ...('body' in message
          ? { body: bufferOf(message.body), callerToken: news(message.callerToken) }
          : { body: noBytes }),
      }),
    onAnswered: (receive) =>
      void stream.on('data', ({ call, body, errorCode, errorMessage, errorDetailsJson }: OpenResponse) => {
        if (call === NO_CALL) return;
        if (errorCode === '') receive({ call, body });
        else receive({ call, error: errorFrom(errorCode, errorMessage, errorDetailsJson) });
      }),
    // No message comes after the status; a broken stream has a status too.
    onClose: (closed) => void stream.on('status', closed),
  };
}

export interface CallStreamServer {
  handler: handleBidiStreamingCall<OpenRequest, OpenResponse>;
  /** Tells callers to send no new calls; each stream ends with its last answer. */
  leave(): void;
}

/** The caller at the other end: its token may change later; its certificate is that of the connection. */
export interface StreamCaller {
  token: string | undefined;
  /** Null without TLS. */
  certified: readonly string[] | null;
}

type OpenCall = ServerDuplexStream<OpenRequest, OpenResponse>;

/** `refusalOf` returns why this caller may not call, or null; `answer` never rejects. */
export function createCallStreamServer({
  refusalOf,
  certifiedOf,
  answer,
}: {
  refusalOf: (call: OpenCall) => Partial<StatusObject> | null;
  certifiedOf: (call: OpenCall) => readonly string[] | null;
  answer: (asked: Asked<Uint8Array>, call: ServedCall, caller: StreamCaller) => Promise<Answered<Uint8Array>>;
}): CallStreamServer {
  const streams = new Set<OpenCall>();
  let isLeaving = false;
  return {
    handler: (stream) => {
      const refusal = refusalOf(stream);
      if (refusal) return void stream.emit('error', refusal);
      streams.add(stream);
      let isAsking = true;
      const endWhenDone = (): void => {
        if (isAsking || running.size > 0) return;
        streams.delete(stream);
        stream.end();
      };
      const caller: StreamCaller = { token: tokenOf(stream.metadata), certified: certifiedOf(stream) };
      const answerAs = (asked: Asked<Uint8Array>, call: ServedCall) => {
        if (asked.callerToken) caller.token = asked.callerToken;
        return answer(asked, call, caller);
      };
      const running = answerCalls(answeringEnd(stream), answerAs, endWhenDone);
      stream.on('end', () => {
        isAsking = false;
        endWhenDone();
      });
      stream.on('cancelled', () => streams.delete(stream));
      stream.write({ ...noResponse, isLeaving });
    },
    leave() {
      isLeaving = true;
      for (const stream of streams) stream.write({ ...noResponse, isLeaving });
    },
  };
}

function answeringEnd(stream: OpenCall): AnsweringEnd<Uint8Array> {
  return {
    isOpen: () => !stream.cancelled && stream.writable,
    send: ({ call, body, error }) =>
      void stream.write({
        ...noResponse,
        call,
        ...(body && { body: bufferOf(body) }),
        ...(error && {
          errorCode: error.code,
          errorMessage: error.message,
          errorDetailsJson: JSON.stringify(error.details),
        }),
      }),
    onAsked: (receive) =>
      void stream.on('data', (message: OpenRequest) => {
        if (!message.isGivenUp) receive(message);
      }),
    onGivenUp: (receive) =>
      void stream.on('data', ({ call, isGivenUp }: OpenRequest) => {
        if (isGivenUp) receive({ call, isGivenUp });
      }),
    onClose: (closed) => void stream.on('cancelled', closed),
  };
}
